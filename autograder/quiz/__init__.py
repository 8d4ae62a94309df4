"""The question bank in use: lint, practice, quizzes drawn from it, exports."""
