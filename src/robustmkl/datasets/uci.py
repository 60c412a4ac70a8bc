"""Loader of the five UCI tables of Table 1, which ship with the package."""

import csv
import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any, Final, Literal, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from robustmkl.arrays import Floats

Strings = NDArray[np.str_]


@dataclass(frozen=True)
class _Source:
    """Where a table comes from, and how this copy of it relates to the original."""

    title: str
    donors: str
    doi: str
    about: str
    copy: str


_SOURCES: Final[Mapping[str, _Source]] = MappingProxyType(
    {
        "ionosphere": _Source(
            title="Ionosphere",
            donors="V. Sigillito, Johns Hopkins University Applied Physics Laboratory",
            doi="10.24432/C5W01B",
            about="Radar returns from the ionosphere: real and imaginary part of 17 pulses.\n"
            "A return is good when it shows structure in the ionosphere, else bad.",
            copy="v2 is constant 0, as in the original; the values agree with other copies.",
        ),
        "heart": _Source(
            title="Statlog (Heart)",
            donors="R. King; from the Cleveland data of R. Detrano et al.",
            doi="10.24432/C57303",
            about="Findings in patients with suspected heart disease, categories as numbers.\n"
            "The class says whether the disease is present.",
            copy="The decimals of oldpeak, lost in some copies, are restored.",
        ),
        "sonar": _Source(
            title="Connectionist Bench (Sonar, Mines vs. Rocks)",
            donors="T. Sejnowski, R. Gorman",
            doi="10.24432/C5T01Q",
            about="Sonar returns from a metal cylinder (mine) or a rock: the energy in each of\n60 frequency bands.",
            copy="Unchanged but for a header line and the names of the classes.",
        ),
        "breast-cancer": _Source(
            title="Breast Cancer Wisconsin (Original)",
            donors="W. Wolberg",
            doi="10.24432/C5HP4Z",
            about="Nine cytological findings in breast tumours, each graded from 1 to 10.\n"
            "Table 1 counts a tenth attribute: the sample code number, an identifier that\n"
            "carries no information about the class (sample_code=False leaves it out).",
            copy="The 16 rows with a missing value are dropped.",
        ),
        "australia": _Source(
            title="Statlog (Australian Credit Approval)",
            donors="R. Quinlan",
            doi="10.24432/C59012",
            about="Applications for credit cards. Names and values were replaced by symbols to\n"
            "protect the applicants; categories are coded as numbers.",
            copy="The decimals of A2, A3 and A7, lost in some copies, are restored.",
        ),
    }
)

_DESCR: Final = """\
{title}
{rule}

{about}

:Rows: {rows}
:Attributes: {attributes}
:Classes: {classes}
:Missing values: none
:Source: UCI Machine Learning Repository, https://doi.org/{doi}
:Donors: {donors}
:Licence: Creative Commons Attribution 4.0 International (CC BY 4.0),
    https://creativecommons.org/licenses/by/4.0/
:Attribution: {title} [dataset], from the donors above.
    UCI Machine Learning Repository. https://doi.org/{doi}
:This copy: {copy}
"""


@overload
def load_uci(
    name: str,
    *,
    return_X_y: Literal[False] = False,
    as_frame: bool = False,
    sample_code: bool = True,
) -> Bunch: ...


@overload
def load_uci(
    name: str,
    *,
    return_X_y: Literal[True],
    as_frame: bool = False,
    sample_code: bool = True,
) -> tuple[Any, Any]: ...


def load_uci(
    name: str,
    *,
    return_X_y: bool = False,
    as_frame: bool = False,
    sample_code: bool = True,
) -> Bunch | tuple[Any, Any]:
    """Load one of the five UCI tables of Table 1; they ship with the package.

    Parameters
    ----------
    name : {"ionosphere", "heart", "sonar", "breast-cancer", "australia"}
        The table.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a bunch.
    as_frame : bool, default=False
        Give ``data`` as a pandas DataFrame and ``target`` as a pandas Series named ``"class"``.
        Needs pandas.
    sample_code : bool, default=True
        Only for ``"breast-cancer"``: whether to keep the first column, the sample code number. It
        carries no information about the class, but the paper's 683 x 10 counts it. False gives
        683 x 9, and is an error for the other tables, which have no such column.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        ``data`` (rows x attributes, float64), ``target`` (the table's own words for the classes,
        strings), ``feature_names`` (list), ``target_names`` (the distinct classes, sorted),
        ``frame`` (attributes and class in one DataFrame with ``as_frame=True``, else None),
        ``DESCR`` (description, source, donors, licence), ``filename`` (path of the CSV file).
    (data, target) : tuple
        With ``return_X_y=True``.

    Notes
    -----
    ================  ====  ==========  ========================
    name              rows  attributes  classes
    ================  ====  ==========  ========================
    "ionosphere"      351   34          "bad", "good"
    "heart"           270   13          "absent", "present"
    "sonar"           208   60          "mine", "rock"
    "breast-cancer"   683   10          "benign", "malignant"
    "australia"       690   14          "0", "1"
    ================  ====  ==========  ========================

    Examples
    --------
    >>> from robustmkl.datasets import load_uci
    >>> heart = load_uci("heart")
    >>> heart.data.shape
    (270, 13)
    >>> X, y = load_uci("breast-cancer", return_X_y=True, sample_code=False)
    >>> X.shape
    (683, 9)
    """
    _check_request(name, sample_code)
    path = _path(name)
    columns, data, target = _read(path)
    if not sample_code:
        columns, data = columns[1:], np.ascontiguousarray(data[:, 1:])
    bunch = Bunch(
        data=data,
        target=target,
        feature_names=columns,
        target_names=np.unique(target),
        frame=None,
        DESCR=_describe(_SOURCES[name], data, target),
        filename=str(path),
    )
    bunch = _with_frame(bunch) if as_frame else bunch
    return (bunch.data, bunch.target) if return_X_y else bunch


def _check_request(name: str, sample_code: bool) -> None:
    if not isinstance(name, str) or name not in _SOURCES:
        known = ", ".join(map(repr, _SOURCES))
        raise ValueError(f"name={name!r} is not a table of this package: use one of {known}")
    if not sample_code and name != "breast-cancer":
        raise ValueError(
            f"sample_code={sample_code!r} concerns 'breast-cancer' only, and name={name!r} has no "
            "sample code column: leave sample_code out"
        )


def _path(name: str) -> Traversable:
    return files("robustmkl.datasets") / "data" / f"{name}.csv"


def _read(path: Traversable) -> tuple[list[str], Floats, Strings]:
    """Column names, attributes and labels; the last column is the label."""
    header, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
    data = np.array([row[:-1] for row in rows], dtype=np.float64)
    target = np.array([row[-1] for row in rows], dtype=np.str_)
    return header[:-1], data, target


def _describe(source: _Source, data: Floats, target: Strings) -> str:
    names, counts = np.unique(target, return_counts=True)
    return _DESCR.format(
        title=source.title,
        rule="-" * len(source.title),
        about=source.about,
        rows=data.shape[0],
        attributes=f"{data.shape[1]}, numeric",
        classes=", ".join(f"{name} ({count})" for name, count in zip(names, counts, strict=True)),
        doi=source.doi,
        donors=source.donors,
        copy=source.copy,
    )


def _with_frame(bunch: Bunch) -> Bunch:
    """Put pandas objects in place of arrays."""
    pandas = _import_pandas()
    data = pandas.DataFrame(bunch.data, columns=bunch.feature_names)
    target = pandas.Series(bunch.target, name="class")
    frame = pandas.concat([data, target], axis=1)
    return Bunch(**{**bunch, "data": data, "target": target, "frame": frame})


def _import_pandas() -> Any:
    # pandas is no dependency of the package: it is looked for only where a frame is asked for
    try:
        return importlib.import_module("pandas")
    except ImportError as error:
        raise ImportError(
            "as_frame=True needs pandas, which is not installed: install it with "
            "`pip install pandas`, or use as_frame=False for NumPy arrays"
        ) from error
