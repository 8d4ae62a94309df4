"""Puts the practice content into the wheel; an editable install reads it from the checkout, so it gets no copy."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CONTENT = ("course.toml", "exercises", "gpu_labs", "quizbank")


class ContentHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "standard":
            build_data["force_include"].update({name: f"autograder/content/{name}" for name in CONTENT})
