"""From solutions to what learners get: exercises, lab stubs, quiz notebooks. Derived, never kept by hand."""
