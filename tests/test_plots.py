import matplotlib as mpl
import numpy as np
import pytest

from pegasos_lib import HingeProblem, make_blobs_2d, pegasos, sdca

mpl.use("agg")
plots = pytest.importorskip("pegasos_lib.plots")
plt = plots.plt


@pytest.fixture
def problem():
    X, y = make_blobs_2d(20, flip=0.1)
    return HingeProblem(X, y, 0.1)


@pytest.fixture(autouse=True)
def _close():
    before = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == before, "a plot changed the reader's own style"
    plt.close("all")


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_data_shows_classes_line_margins_and_violators(problem):
    w = sdca(problem, gap=1e-12).w
    ax = plots.plot_data_2d(problem, w)
    ax.figure.draw_without_rendering()
    assert labels(ax)[:3] == ["y = +1", "y = -1", "margin below 1"]
    violators = next(c for c in ax.collections if c.get_label() == "margin below 1")
    assert len(violators.get_offsets()) == (problem.margins(w) < 1 - 1e-6).sum()
    assert len(ax.lines) == 3
    for line, score in zip(ax.lines, (0.0, 1.0, -1.0), strict=True):
        assert np.array(line.get_xy1()) @ w == pytest.approx(score)
        assert np.array(line.get_xy2()) @ w == pytest.approx(score)
    shown = ax.get_xlim() + ax.get_ylim()
    assert (problem.X.min(axis=0) > shown[::2]).all()
    assert (problem.X.max(axis=0) < shown[1::2]).all()


def test_data_without_w_or_at_0_has_no_line(problem):
    assert not plots.plot_data_2d(problem).lines
    assert not plots.plot_data_2d(problem, [0.0, 0.0]).lines


def test_contours_hold_path_ball_and_optimum(problem):
    run = pegasos(problem, n_iter=30, record=range(31))
    optimum = sdca(problem, gap=1e-12).w
    ax = plots.plot_contours_2d(problem, run.trace.w, optimum)
    ax.figure.draw_without_rendering()
    assert ax.patches[0].radius == pytest.approx(10**0.5)
    assert (ax.lines[0].get_xydata() == run.trace.w).all()
    assert ax.get_xlim()[0] < run.trace.w[:, 0].min() < run.trace.w[:, 0].max() < ax.get_xlim()[1]
    assert "$w^*$" in labels(ax)
    bare = plots.plot_contours_2d(problem, ball=False, limits=(-1, 1, -2, 2))
    assert bare.get_xlim() + bare.get_ylim() == (-1, 1, -2, 2)


def test_traces_show_suboptimality_with_its_bound(problem):
    run = pegasos(problem, n_iter=100, record=20)
    best = sdca(problem, gap=1e-12).trace.objective[-1] - 1e-12
    ax = plots.plot_traces({"k = 1": run}, best, bound=lambda t: 10 / t, bound_label="Theorem 2")
    ax.figure.draw_without_rendering()
    assert labels(ax) == ["k = 1, last iterate", "k = 1, average", "Theorem 2"]
    assert ax.lines[0].get_ydata() == pytest.approx(run.trace.objective - best)
    assert ax.lines[1].get_ydata() == pytest.approx(run.trace.objective_average - best)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    only = plots.plot_traces(run, best, which="last", against="seconds")
    assert only.get_xlabel() == "seconds"
    assert labels(only) == ["last iterate"]


def test_step_0_is_left_out_of_a_logarithmic_axis(problem):
    run = pegasos(problem, n_iter=5, record=range(6), average=None)
    ax = plots.plot_traces(run, 0.0)
    assert ax.lines[0].get_xdata().min() == 1


@pytest.mark.parametrize("options", [{"which": "best"}, {"against": "epochs"}])
def test_unknown_options_are_refused(problem, options):
    with pytest.raises(ValueError, match="must be"):
        plots.plot_traces(pegasos(problem, n_iter=5), 0.0, **options)


def test_digits_and_weights_are_images_the_right_way_up():
    X = np.zeros((3, 784))
    X[2, 5] = 1.0  # top row, sixth pixel
    sheet = plots.plot_digits(X, columns=2).images[0].get_array()
    assert sheet.shape == (60, 60)
    assert np.argwhere(sheet == 1.0).tolist() == [[31, 6]]
    assert [t.get_text() for t in plots.plot_digits(X, ["a", "b", "c"]).texts] == ["a", "b", "c"]
    image = plots.plot_weights_image(X[2] * -3).images[0]
    assert image.get_clim() == (-3.0, 3.0)
    assert image.get_array()[0, 5] == -3.0
    plots.plot_weights_image(np.zeros(784))


def test_given_axes_are_drawn_on_and_returned(problem):
    _, ax = plt.subplots()
    assert plots.plot_data_2d(problem, ax=ax) is ax
    assert plots.plot_contours_2d(problem, ax=ax) is ax
    assert len(plt.get_fignums()) == 1


def test_planes_need_two_features():
    p = HingeProblem([[1.0, 2.0, 3.0]], [1], 0.1)
    for draw in (plots.plot_data_2d, plots.plot_contours_2d):
        with pytest.raises(ValueError, match="needs two features; the problem has d = 3"):
            draw(p)


def test_colours_of_neighbours_differ_in_lightness_and_all_stand_out_from_white():
    rgb = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in plots.COLOURS])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    contrast = 1.05 / (luminance + 0.05)
    assert (contrast[:3] >= 3.0).all()
