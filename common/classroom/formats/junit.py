"""JUnit XML of the class: a suite for each hand-in, as Jenkins' junit-10.xsd has them."""

from xml.etree import ElementTree

from classroom.formats import text
from classroom.result import ABSENT, GRADED

PROPERTIES = ("id", "file", "sha256", "seed", "commit", "compiler", "executor", "contained")


def of_results(results):
    root = ElementTree.Element("testsuites", name="Kernel Ladder")
    for result in results:
        root.append(suite(result))
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def suite(result):
    name = f"{result.student}: {result.assignment}"
    cases = [case(result, check) for check in result.checks]
    counts = {word: sum(one.find(tag) is not None for one in cases) for word, tag in (
        ("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))}
    found = ElementTree.Element("testsuite", name=name, tests=str(len(cases)), time=f"{result.seconds:.3f}",
                                **{word: str(count) for word, count in counts.items()})
    properties = ElementTree.SubElement(found, "properties")
    for field in PROPERTIES:
        ElementTree.SubElement(properties, "property", name=field, value=str(getattr(result, field)))
    found.extend(cases)
    return found


def case(result, check):
    found = ElementTree.Element("testcase", name=check.name, classname=f"{result.assignment}.{check.kind}")
    if result.status == ABSENT:
        ElementTree.SubElement(found, "skipped").text = result.message
    elif result.status != GRADED:
        ElementTree.SubElement(found, "error", type=result.status, message=result.message.partition("\n")[0])
    elif check.points < check.of:
        lost = f"{text.points(check.points)} of {text.points(check.of)} points"
        ElementTree.SubElement(found, "failure", type=check.kind, message=lost).text = text.why(check)
    return found
