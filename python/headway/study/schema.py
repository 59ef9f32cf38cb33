"""The tables of a study file around the scenario."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

__all__ = ["ExpectTable", "FactorTable", "Header", "ReportTable", "StudyFile"]

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$")]
Text = Annotated[str, StringConstraints(strip_whitespace=True)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Header(_Strict):
    """What the study is."""

    name: Name = Field(description="the study's name; a shipped study's folder has the same")
    title: Text = Field(description="one line for lists and the report's head")
    question: Text = Field(default="", description="what the study finds out, as a question")
    description: Text = Field(default="", description="what it reproduces and from where")
    seed: Annotated[int, Field(ge=0)] = Field(
        default=1, description="the number from which every run's seed derives"
    )
    replications: Annotated[int, Field(ge=1)] = Field(
        default=10, description="runs of each point, with different seeds"
    )


class FactorTable(_Strict):
    """One thing that the study varies; exactly one of `key`, `keys` and `name`."""

    key: str | None = Field(default=None, description="the dotted key that is varied")
    keys: list[str] | None = Field(
        default=None, description="several dotted keys that are varied together"
    )
    name: str | None = Field(
        default=None, description="a name of its own, for levels that set keys of their choice"
    )
    levels: list[Any] = Field(description="the levels, in the order of results")


class ExpectTable(_Strict):
    """A limit that the results must keep."""

    name: Text = Field(default="", description="what is expected, in words")
    metric: str = Field(description="a metric of the results, such as psd_p95_s")
    where: dict[str, Any] = Field(
        default={}, description="the points it speaks of, by factor; all points if left out"
    )
    statistic: Literal["mean", "ci_low", "ci_high"] = Field(
        default="mean",
        description="which number of each point: the mean over its replications, or an end of "
        "the mean's 95 % confidence interval",
    )
    max: Any = Field(default=None, description="the largest value that passes")
    min: Any = Field(default=None, description="the least value that passes")


class ReportTable(_Strict):
    """What the report shows beyond what every report does."""

    claims: list[str] = Field(default=[], description="ids of the claims that are checked")
    figures: list[str] = Field(default=[], description="figures to draw, by name, in order")
    models: list[str] = Field(
        default=[], description="analytical models laid beside the results, by name"
    )


class StudyFile(_Strict):
    """A whole study file."""

    study: Header = Field(description="what the study is")
    scenario: dict[str, Any] = Field(description="the scenario, before factors")
    factor: list[FactorTable] = Field(default=[], description="what is varied")
    expect: list[ExpectTable] = Field(default=[], description="limits on the results")
    report: ReportTable = Field(default=ReportTable(), description="what the report adds")
