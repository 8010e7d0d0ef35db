"""The house style: colours told apart by everyone, files the same bytes whenever they are made again."""

import itertools
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread

from deniability.analysis.drawing import save_figure
from deniability.analysis.style import (
    CHANNEL_HATCH,
    CHANNEL_LABEL,
    CHANNEL_STYLE,
    MECHANISM_LABEL,
    MECHANISM_STYLE,
    channel_label,
    figure,
    legend_outside,
    mechanism_label,
    mechanism_style,
)

# Machado, Oliveira & Fernandes 2009, full severity, on linear RGB
VISION = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def lab(color, vision):
    """CIE 1976 L*a*b* (D65) of a hexadecimal colour as someone with `vision` sees it."""
    encoded = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(VISION[vision] @ linear, 0, 1) / np.array([0.95047, 1, 1.08883])
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def smallest_distance(colors, vision):
    return min(
        np.linalg.norm(lab(one, vision) - lab(other, vision))
        for one, other in itertools.combinations(colors, 2)
    )


@pytest.mark.parametrize("vision", VISION)
def test_colours_stay_apart(vision):
    """A difference of 2.3 is just noticeable; eight mechanisms keep 12, the main five and channels 20."""
    mechanisms = {name: style["color"] for name, style in MECHANISM_STYLE.items()}
    main = [mechanisms[name] for name in ("greedy", "uniform", "rr", "tca", "exponential")]
    assert smallest_distance(mechanisms.values(), vision) > 12
    assert smallest_distance(main, vision) > 20
    assert smallest_distance([style["color"] for style in CHANNEL_STYLE.values()], vision) > 20


def test_red_and_green_of_equal_lightness_would_fail():
    """Negative control: the distance sees the classic mistake."""
    assert smallest_distance(["#CC4444", "#6E8B00"], "normal") > 40
    assert smallest_distance(["#CC4444", "#6E8B00"], "deuteranopia") < 20


def test_grey_print_tells_the_main_mechanisms_and_the_channels_apart():
    """Neighbouring lightness differs by 10 of 100; marker and line style differ between all."""
    main = ("greedy", "uniform", "rr", "tca", "exponential")
    for colors in (
        [MECHANISM_STYLE[name]["color"] for name in main],
        [style["color"] for style in CHANNEL_STYLE.values()],
    ):
        assert np.diff(sorted(lab(color, "normal")[0] for color in colors)).min() > 10
    for styles in (MECHANISM_STYLE, CHANNEL_STYLE):
        for what in ("color", "marker", "linestyle"):
            assert len({str(style[what]) for style in styles.values()}) == len(styles)


def test_every_style_has_a_label():
    assert set(MECHANISM_LABEL) == set(MECHANISM_STYLE)
    assert set(CHANNEL_LABEL) == set(CHANNEL_STYLE) == set(CHANNEL_HATCH)


def test_plugged_in_mechanism_gets_one_style_and_its_own_name():
    assert mechanism_style("somebody-elses") == mechanism_style("somebody-elses")
    assert mechanism_label("somebody-elses") == "somebody-elses"
    assert channel_label("side_channel_x") == "Side channel x"


def test_unknown_width_is_refused():
    with pytest.raises(ValueError, match="column"), figure("colum"):
        pass


def test_global_state_is_untouched():
    before = dict(mpl.rcParams)
    with figure() as fig:
        fig.subplots().plot([0, 1])
    assert dict(mpl.rcParams) == before
    assert "matplotlib.pyplot" not in sys.modules or not mpl.pyplot.get_fignums()


def test_legend_leaves_the_axes_their_height():
    """The figure grows by the legend, so the axes are as high as without it, to a twentieth of an inch."""
    heights = []
    for with_legend in (False, True):
        with figure("column") as fig:
            axes = fig.subplots()
            lines = [
                axes.plot([0, 1], [0, i], label=mechanism_label(m), **mechanism_style(m))[0]
                for i, m in enumerate(MECHANISM_STYLE)
            ]
            if with_legend:
                legend = legend_outside(fig, lines, [str(line.get_label()) for line in lines])
        fig.draw_without_rendering()
        heights.append(axes.get_position().height * fig.get_size_inches()[1])
    assert heights[1] == pytest.approx(heights[0], abs=0.1)
    # and it lies above the axes, within the figure
    box = legend.get_window_extent()
    assert box.y0 >= axes.get_window_extent().y1
    assert box.x1 <= fig.bbox.x1
    assert box.y1 <= fig.bbox.y1


def sketch():
    with figure("column") as fig:
        axes = fig.subplots()
        axes.plot([1, 2, 3], [0.5, 0.3, 0.1], label="δ", **mechanism_style("tca"))
        axes.fill_between([1, 2, 3], [0.4, 0.2, 0.0], [0.6, 0.4, 0.2], hatch="//", alpha=0.2)
        axes.set_xlabel("Gap Δ (reports)")
    return fig


DATA = pd.DataFrame({"gap": [1, 2], "probability": [1 / 3, np.nan]})


def test_files_are_complete_and_the_same_bytes_when_made_again(tmp_path):
    saved = [
        save_figure(sketch(), tmp_path / name, "fig", DATA, "Error by gap, δ.", {"seed": 7, "hash": "ab"})
        for name in ("one", "two")
    ]
    assert [path.name for path in saved[0]] == ["fig.pdf", "fig.svg", "fig.png", "fig.csv", "fig.txt"]
    for one, two in zip(*saved, strict=True):
        assert one.read_bytes() == two.read_bytes(), one.suffix
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == sorted(p.name for p in saved[0])


def test_bytes_are_the_same_in_a_process_with_another_hash_seed(tmp_path):
    """Set order, and whatever the user's configuration sets, must not reach the files."""
    (tmp_path / "matplotlibrc").write_text("font.size: 20\naxes.facecolor: red\nsvg.hashsalt: x\n")
    program = (
        "import importlib.util, sys\n"
        f"spec = importlib.util.spec_from_file_location('sketches', {__file__!r})\n"
        "module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module)\n"
        f"module.save_figure(module.sketch(), {str(tmp_path / 'other')!r}, 'fig', module.DATA, 'C.', {{}})\n"
    )
    environment = os.environ | {"PYTHONHASHSEED": "123", "MATPLOTLIBRC": str(tmp_path)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
    for path in save_figure(sketch(), tmp_path / "here", "fig", DATA, "C.", {}):
        assert path.read_bytes() == (tmp_path / "other" / path.name).read_bytes(), path.suffix


def test_data_caption_and_provenance_are_inside(tmp_path):
    caption, provenance = "Error by gap, δ = 0.1.", {"seed": 7, "content_hash": "ab12"}
    pdf, svg, png, csv, txt = save_figure(sketch(), tmp_path, "fig", DATA, caption, provenance)
    pd.testing.assert_frame_equal(pd.read_csv(csv), DATA, rtol=1e-9)
    assert txt.read_text(encoding="utf-8").startswith(caption)
    assert json.loads(txt.read_text(encoding="utf-8").split("Provenance: ")[1]) == provenance

    namespace = "{http://purl.org/dc/elements/1.1/}"
    tree = ElementTree.parse(svg)
    assert [json.loads(element.text) for element in tree.iter(f"{namespace}source")] == [provenance]
    assert [element.text for element in tree.iter(f"{namespace}description")] == [caption]
    assert not list(tree.iter(f"{namespace}date"))

    from PIL import Image  # comes with matplotlib

    with Image.open(png) as image:
        image.load()
        assert json.loads(image.info["Provenance"]) == provenance
        assert image.info["Description"] == caption

    content = pdf.read_bytes()
    assert b'"content_hash": "ab12"' in content
    assert b"CreationDate" not in content
    # fonts are embedded as TrueType (Type 42), not as bitmap-like Type 3
    assert b"/FontFile2" in content
    assert b"/Type3" not in content


def test_printed_width_is_the_width_asked_for(tmp_path):
    png = save_figure(sketch(), tmp_path, "fig", DATA, "C.", {})[2]
    assert imread(png).shape[1] == round(3.35 * 300)


def test_failed_write_leaves_the_old_file_and_no_debris(tmp_path, monkeypatch):
    paths = save_figure(sketch(), tmp_path, "fig", DATA, "C.", {})
    before = {path: path.read_bytes() for path in paths}

    def fail(descriptor):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        save_figure(sketch(), tmp_path, "fig", DATA, "Another.", {})
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
