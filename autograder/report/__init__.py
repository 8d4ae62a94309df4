"""What people look at: tables, pages, charts. Reads verdicts, decides nothing."""
