"""A figure of the class: points by assignment, and what each check cost, as SVG."""

import io

from classroom.formats import text

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#6E6E6E"
WIDTH, ROW, MARGIN = 10, 0.26, 1.2  # In inches.
MOST_CHECKS = 24  # One can look at.


def of_results(results):
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    assignments, checks = by_assignment(results), hardest(by_check(results))
    look = {"svg.hashsalt": "kernel ladder", "svg.fonttype": "none", "font.size": 9,
            "axes.spines.top": False, "axes.spines.right": False}
    with matplotlib.rc_context(look):
        figure, (left, right) = pyplot.subplots(
            1, 2, figsize=(WIDTH, MARGIN + ROW * max(len(checks), len(assignments), 4)), layout="constrained")
        draw_points(left, assignments)
        draw_checks(right, checks)
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
        pyplot.close(figure)
    return file.getvalue()


def by_assignment(results):
    """Assignment -> the share of its points that each hand-in got, in percent, sorted."""
    found = {}
    for result in results:
        if result.of:
            found.setdefault(result.assignment, []).append(100 * result.points / result.of)
    return {name: sorted(found[name]) for name in sorted(found)}


def by_check(results):
    """(assignment, check) -> its points' share on average, in percent."""
    earned, most = {}, {}
    for result in sorted(results, key=lambda result: result.assignment):
        for check in result.checks:
            if check.of:
                key = (result.assignment, check.name)
                earned[key] = earned.get(key, 0) + check.points
                most[key] = most.get(key, 0) + check.of
    return {key: 100 * earned[key] / most[key] for key in earned}


def hardest(checks):
    """Those that cost most, in their order."""
    kept = set(sorted(checks, key=checks.get)[:MOST_CHECKS])
    return {key: share for key, share in checks.items() if key in kept}


def draw_points(axes, assignments):
    """A dot for each hand-in, those of a share side by side in height; a line at the median."""
    for place, shares in enumerate(assignments.values()):
        heights = [place + offset for offset in spread(shares)]
        axes.scatter(shares, heights, s=12, color=BLUE, alpha=0.5, linewidths=0, clip_on=False)
        middle = shares[len(shares) // 2]
        axes.plot([middle, middle], [place - 0.35, place + 0.35], color=ORANGE, linewidth=2)
    axes.set_title("Points of each hand-in, %; the bar is the median", loc="left")
    rows(axes, list(assignments))


def spread(shares):
    """Heights between -0.3 and 0.3: equal shares beside each other, a lone one in the middle."""
    for share in sorted(set(shares)):
        count = shares.count(share)
        yield from ((k - (count - 1) / 2) * min(0.1, 0.6 / count) for k in range(count))


def draw_checks(axes, checks):
    shares = list(checks.values())
    axes.barh(range(len(shares)), [100] * len(shares), color="#EDEDED", height=0.7)
    axes.barh(range(len(shares)), shares, color=BLUE, height=0.7)
    which = "of the hardest checks" if len(checks) == MOST_CHECKS else "of each check"
    axes.set_title(f"Points {which}, % on average", loc="right")
    rows(axes, [f"{assignment}: {text.line(check, 45)}" for assignment, check in checks])


def rows(axes, names):
    axes.set_yticks(range(len(names)), names, parse_math=False)  # A $ is a $.
    axes.set_ylim(max(len(names), 1) - 0.4, -0.6)
    axes.set_xlim(0, 100)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(colors=GREY)
    for label in axes.get_yticklabels():
        label.set_color("black")
