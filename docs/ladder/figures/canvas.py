"""An empty figure, and the colours that all figures share."""

# Okabe and Ito's palette; told apart in grey and by the colour-blind.
BLUE, ORANGE, GREY, INK = "#0072B2", "#D55E00", "#6E6E6E", "#333333"
PALE = "#EDEDED"


def new_figure(width, height, rows=1, columns=1, **layout):
    """Of so many inches; its panels' text is text, and no date is kept."""
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    pyplot.close("all")
    matplotlib.rcdefaults()
    matplotlib.rcParams.update({
        "svg.hashsalt": "kernel ladder", "svg.fonttype": "none",
        "font.family": "sans-serif", "font.size": 10,
        # Drawn to the first one's measures; where it is missing, Verdana has the same.
        "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
        "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK,
        "xtick.color": INK, "ytick.color": INK,
        "axes.spines.top": False, "axes.spines.right": False})
    return pyplot.subplots(rows, columns, figsize=(width, height), layout="constrained", **layout)


def label_end(axes, y, words, color, x=1.01, **look):
    """Words beside a line's right end."""
    axes.annotate(words, (x, y), xycoords=("axes fraction", "data"), color=color, va="center",
                  annotation_clip=False, **look)


def draw_bar(axes, y, percent, words, color, height=0.62, **look):
    """Its words stand in it where there is room."""
    axes.barh(y, percent, height=height, color=color)
    inside = percent > 45
    axes.text(1.5 + (0 if inside else percent), y, words, va="center", color="white" if inside else INK, **look)


def boxes(axes, corners, width, height, **look):
    """Rectangles of one size and one look, as one path: a block has thousands."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path
    found = [Path([(x, y), (x + width, y), (x + width, y + height),
                   (x, y + height), (x, y)], closed=True) for x, y in corners]
    if found:
        axes.add_patch(PathPatch(Path.make_compound_path(*found), **{"linewidth": 0} | look))


def without_frame(axes):
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
