"""Studies: TOML in, a checked model out. docs/studies.md is the schema's reference."""

from headway.study.catalog import locate, shipped
from headway.study.expects import Condition, Expect
from headway.study.factors import Factor, Level
from headway.study.load import Study, load, parse

__all__ = [
    "Condition",
    "Expect",
    "Factor",
    "Level",
    "Study",
    "load",
    "locate",
    "parse",
    "shipped",
]
