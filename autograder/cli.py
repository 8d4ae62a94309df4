"""The command line: verbs, no logic."""


def main() -> None: ...
