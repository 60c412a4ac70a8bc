"""The five UCI tables: their values, their form, their provenance."""

import hashlib
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from robustmkl import datasets
from robustmkl.datasets import load_uci

NAMES = ("ionosphere", "heart", "sonar", "breast-cancer", "australia")

SHAPES = {
    "ionosphere": (351, 34),
    "heart": (270, 13),
    "sonar": (208, 60),
    "breast-cancer": (683, 10),
    "australia": (690, 14),
}

CLASS_COUNTS = {
    "ionosphere": {"bad": 126, "good": 225},
    "heart": {"absent": 150, "present": 120},
    "sonar": {"mine": 111, "rock": 97},
    "breast-cancer": {"benign": 444, "malignant": 239},
    "australia": {"0": 383, "1": 307},
}

SHA256 = {
    "ionosphere": "1de08d801f4e6269e99248e2f9298d8fa8184d900c5470f8f26c1dc56a488ce3",
    "heart": "e5107f32a3edb586a03e109c1c0b12d9d92008c02a4cdcf911cd72a5974ae539",
    "sonar": "962a62f6144cecda1498f030fdcee87786aeec7bc88b99acccff3f57fe733816",
    "breast-cancer": "27f2d7f600f45700fc268fd095bdab223751278496e0f44cdc20e0114e1fe27d",
    "australia": "c33afad95a9923b7869b7114d335817320e626bea5353a7ceb46a91edc00dfd0",
}

# name, row, column, value: first, last and inner rows, negative and fractional values
SPOT_VALUES = [
    ("ionosphere", 0, "v3", 0.99539),
    ("ionosphere", 0, "v34", -0.453),
    ("ionosphere", 1, "v34", -0.02447),
    ("heart", 0, "age", 70.0),
    ("heart", 0, "oldpeak", 2.4),
    ("heart", 1, "oldpeak", 1.6),
    ("heart", 1, "cholesterol", 564.0),
    ("sonar", 0, "band_01", 0.02),
    ("sonar", 0, "band_60", 0.0032),
    ("sonar", 1, "band_17", 1.0),
    ("breast-cancer", 0, "sample_code", 1000025.0),
    ("breast-cancer", 1, "bare_nuclei", 10.0),
    ("australia", 0, "A2", 22.08),
    ("australia", 0, "A3", 11.46),
    ("australia", 0, "A7", 1.585),
    ("australia", 1, "A7", 0.165),
    ("australia", 0, "A14", 1213.0),
]

DONORS = {
    "ionosphere": "Sigillito",
    "heart": "Detrano",
    "sonar": "Gorman",
    "breast-cancer": "Wolberg",
    "australia": "Quinlan",
}


def test_exports():
    assert datasets.__all__ == ["load_uci"]


@pytest.mark.parametrize("name", NAMES)
def test_table_has_the_shape_of_table_1(name):
    table = load_uci(name)
    assert table.data.shape == SHAPES[name]
    assert table.target.shape == SHAPES[name][:1]
    assert len(table.feature_names) == SHAPES[name][1]
    assert len(set(table.feature_names)) == SHAPES[name][1]


@pytest.mark.parametrize("name", NAMES)
def test_arrays_are_plain_and_complete(name):
    table = load_uci(name)
    assert table.data.dtype == np.float64
    assert table.data.flags.c_contiguous
    assert np.isfinite(table.data).all()
    assert table.target.dtype.kind == "U"
    assert table.frame is None


@pytest.mark.parametrize("name", NAMES)
def test_classes_are_the_words_of_the_table(name):
    table = load_uci(name)
    words, counts = np.unique(table.target, return_counts=True)
    assert dict(zip(words.tolist(), counts.tolist(), strict=True)) == CLASS_COUNTS[name]
    assert table.target_names.tolist() == sorted(CLASS_COUNTS[name])


@pytest.mark.parametrize(("name", "row", "column", "value"), SPOT_VALUES)
def test_spot_values(name, row, column, value):
    table = load_uci(name)
    assert table.data[row, table.feature_names.index(column)] == value


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("ionosphere", "good", "good"),
        ("heart", "present", "present"),
        ("sonar", "rock", "mine"),
        ("breast-cancer", "benign", "malignant"),
        ("australia", "0", "1"),
    ],
)
def test_labels_belong_to_their_rows(name, first, last):
    target = load_uci(name).target
    assert (target[0], target[-1]) == (first, last)


@pytest.mark.parametrize("name", NAMES)
def test_file_is_the_one_that_was_checked(name):
    content = Path(load_uci(name).filename).read_bytes()
    assert hashlib.sha256(content).hexdigest() == SHA256[name]


@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_the_file(name):
    table = load_uci(name)
    frame = pd.read_csv(table.filename, dtype=str)
    assert [*table.feature_names, "class"] == list(frame.columns)
    np.testing.assert_array_equal(table.data, frame.drop(columns="class").astype(float).to_numpy())
    assert table.target.tolist() == frame["class"].tolist()


def test_decimals_of_heart_are_restored():
    table = load_uci("heart")
    oldpeak = table.data[:, table.feature_names.index("oldpeak")]
    # without the decimal points, 2.4 stands as 24
    assert oldpeak.max() == 6.2


def test_decimals_of_australia_are_restored():
    table = load_uci("australia")
    columns = [table.feature_names.index(name) for name in ("A2", "A3", "A7")]
    restored = table.data[:, columns]
    np.testing.assert_array_equal(restored.min(axis=0), [13.75, 0.0, 0.0])
    np.testing.assert_array_equal(restored.max(axis=0), [80.25, 28.0, 28.5])
    np.testing.assert_allclose(restored.mean(axis=0), [31.568203, 4.758725, 2.223406], atol=5e-7)


def test_v2_of_ionosphere_is_kept_though_constant():
    table = load_uci("ionosphere")
    assert not table.data[:, table.feature_names.index("v2")].any()


def test_sample_code_can_be_left_out():
    with_code = load_uci("breast-cancer")
    without = load_uci("breast-cancer", sample_code=False)
    assert with_code.feature_names[0] == "sample_code"
    assert without.feature_names == with_code.feature_names[1:]
    assert without.data.shape == (683, 9)
    assert without.data.flags.c_contiguous
    np.testing.assert_array_equal(without.data, with_code.data[:, 1:])
    np.testing.assert_array_equal(without.target, with_code.target)
    assert ":Attributes: 9" in without.DESCR
    assert ":Attributes: 10" in with_code.DESCR


def test_attributes_without_the_sample_code_are_grades():
    grades = load_uci("breast-cancer", sample_code=False).data
    assert set(np.unique(grades)) == set(range(1, 11))


@pytest.mark.parametrize("name", NAMES)
def test_return_X_y(name):
    table = load_uci(name)
    X, y = load_uci(name, return_X_y=True)
    np.testing.assert_array_equal(X, table.data)
    np.testing.assert_array_equal(y, table.target)


@pytest.mark.parametrize("name", NAMES)
def test_frames_hold_what_the_arrays_hold(name):
    arrays = load_uci(name)
    frames = load_uci(name, as_frame=True)
    assert isinstance(frames.data, pd.DataFrame)
    assert isinstance(frames.target, pd.Series)
    assert list(frames.data.columns) == arrays.feature_names == frames.feature_names
    np.testing.assert_array_equal(frames.data.to_numpy(), arrays.data)
    assert frames.target.tolist() == arrays.target.tolist()
    assert frames.target.name == "class"
    assert frames.DESCR == arrays.DESCR


def test_frame_joins_attributes_and_class():
    frames = load_uci("breast-cancer", as_frame=True, sample_code=False)
    pd.testing.assert_frame_equal(frames.frame.drop(columns="class"), frames.data)
    pd.testing.assert_series_equal(frames.frame["class"], frames.target)


def test_return_X_y_as_frame():
    X, y = load_uci("heart", return_X_y=True, as_frame=True)
    assert X.loc[0, "oldpeak"] == 2.4
    assert y[0] == "present"


@pytest.mark.parametrize("name", NAMES)
def test_description_names_source_donor_and_licence(name):
    description = load_uci(name).DESCR
    assert "UCI Machine Learning Repository" in description
    assert "https://doi.org/10.24432/" in description
    assert DONORS[name] in description
    assert "CC BY 4.0" in description
    assert "https://creativecommons.org/licenses/by/4.0/" in description


@pytest.mark.parametrize("name", NAMES)
def test_description_agrees_with_the_table(name):
    description = load_uci(name).DESCR
    rows, columns = SHAPES[name]
    assert f":Rows: {rows}\n" in description
    assert f":Attributes: {columns}, numeric\n" in description
    assert all(f"{word} ({count})" in description for word, count in CLASS_COUNTS[name].items())
    assert "{" not in description


def test_sources_file_ships_beside_the_tables():
    sources = Path(load_uci("heart").filename).with_name("SOURCES.md").read_text(encoding="utf-8")
    assert "CC BY 4.0" in sources
    assert all(f"{name}.csv" in sources and DONORS[name] in sources for name in NAMES)


def test_every_call_returns_its_own_arrays():
    load_uci("heart").data[:] = -1
    assert load_uci("heart").data[0, 0] == 70


@pytest.mark.parametrize("name", ["iris", "Heart", "breast_cancer", "../heart", "", None, 3, []])
def test_unknown_name_lists_the_five(name):
    with pytest.raises(ValueError, match="is not a table of this package") as caught:
        load_uci(name)
    assert repr(name) in str(caught.value)
    assert all(repr(known) in str(caught.value) for known in NAMES)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "breast-cancer"])
def test_sample_code_concerns_breast_cancer_only(name):
    with pytest.raises(ValueError, match=f"'breast-cancer' only.*{name}.*leave sample_code out"):
        load_uci(name, sample_code=False)


def test_as_frame_without_pandas_names_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"as_frame=True needs pandas.*pip install pandas"):
        load_uci("heart", as_frame=True)
    assert load_uci("heart").data.shape == (270, 13)
