"""Tries to break what `obverse derive` proved. See README.md beside this file."""

import argparse
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
sys.path.insert(0, str(Path(__file__).resolve().parent))

ROOT = Path(__file__).resolve().parents[2]
SPACE = "white space at the ends"

KNOWN = """# What is called proved and yet comes back wrong: source, tab, cause; * stands for every source. To be emptied.
"""


def arguments():
    parser = argparse.ArgumentParser(prog="second_judge", description=__doc__)
    parser.add_argument("sources", nargs="*", type=Path, help="chat templates, or folders of them")
    parser.add_argument("--obverse", type=Path, help="the binary; else $OBVERSE, target/release/obverse or target/debug/obverse")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="only sources whose path has this")
    parser.add_argument("--renamed", action="store_true", help="also judge each chat template with its markers renamed")
    parser.add_argument("--thorough", action="store_true", help="many times the messages")
    parser.add_argument("--strict", action="store_true", help="texts that speak of a marker count, too, unless they are shown to be ambiguous, and so does what the reference itself makes of white space and numbers")
    parser.add_argument("--known", type=Path, help="a list of known failures: source, tab, cause; `*` stands for every source")
    parser.add_argument("--write-known", type=Path, help="write such a list of what fails now")
    parser.add_argument("--json", type=Path, help="write everything there")
    parser.add_argument("--verbose", action="store_true", help="all that came back wrong, and what is excused")
    return parser.parse_args()


def binary(given):
    for path in (given, os.environ.get("OBVERSE"), ROOT / "target/release/obverse", ROOT / "target/debug/obverse"):
        if path and Path(path).exists():
            return str(Path(path).resolve())
    sys.exit("no obverse binary: build it, or name it with --obverse")


def sources(given):
    if not given:
        given = [ROOT / "chat_templates", ROOT / "tests/invented", *sorted((ROOT / "corpus").glob("*/"))]
    for path in given:
        if path.is_dir():
            yield from sorted(path.glob("*.jinja"))
        elif path.exists():
            yield path


def label(path):
    path = Path(os.path.abspath(path))
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def derive(obverse, source):
    """The response template and its report, by way of the binary alone."""
    from rendering import TOKENS

    with tempfile.TemporaryDirectory() as folder:
        chat_template = Path(folder) / "judged.jinja"
        chat_template.write_text(source, encoding="utf-8", newline="")
        tokens = [f"--special-token={name}={text}" for name, text in TOKENS.items()]
        done = subprocess.run([obverse, "derive", *tokens, "--out-dir", folder, str(chat_template)], capture_output=True, text=True)
        document, report = Path(folder) / "judged.json", Path(folder) / "judged.report.json"
        if not report.exists() or not document.exists():
            return None, {"verdict": "none", "error": done.stderr.strip()[-300:]}
        return json.loads(document.read_text()), json.loads(report.read_text())


def shown_inexpressible(report):
    """What the report shows to be inexpressible."""
    return [f["counterexample"] for f in report.get("findings", []) if f.get("code") == "inexpressible" and "counterexample" in f]


def own_counterexamples_come_back(document, report):
    """Whether every message with which the report shows something inexpressible is parsed as expected."""
    from judging import same
    from transformers.utils.chat_parsing import parse_response

    shown = shown_inexpressible(report)
    for case in shown:
        try:
            if same(case["expected"], parse_response(case["response"], document, prefix=case["prefix"])) is None:
                return False
        except Exception:  # noqa: BLE001
            return False
    return bool(shown)


def written_by_hand(path):
    """A response template that somebody wrote for a chat template: NAME.json beside it, under `response_template`."""
    beside = path.with_suffix(".json")
    return json.loads(beside.read_text()).get("response_template") if beside.exists() else None


def left_alone(report):
    """The kwargs of which the report says that they were left at their default."""
    codes = ("settings-not-tried", "kwarg-not-proved")
    told = [f["text"] for f in report.get("findings", []) if f.get("code") in codes]
    return {name for text in told for name in re.findall("`([^`]+)`", text)}


def judge(task):
    name, source, markers, obverse, seed, amount, beside = task
    from growth import failures
    from trial import SHOWN, Trial

    began = time.time()
    document, report = derive(obverse, source)
    result = {"name": name, "verdict": report["verdict"], "error": report.get("error")}
    if document is None:
        return result
    try:
        given = [case["message"] for case in shown_inexpressible(report)]
        alone = left_alone(report)
        trial = Trial(name, source, document, seed, amount, markers, given, alone).run()
        asked = [(prefix, response, *rest) for (prefix, response), rest in trial.judge.asked.items()]
        growth = failures(obverse, document, asked, f"{seed} {name}")
    except Exception as error:  # noqa: BLE001 a fault of this script must not look like a failure or a success
        import traceback

        return {**result, "fault": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
    total = sum(trial.counts.values(), start=Counter())
    expressed = None
    if report["verdict"] == "inexpressible" and beside:
        other = Trial(name, source, beside, seed, amount, markers, given, alone).run()
        # Two messages that render to one text are what cannot be expressed, whoever writes the response template.
        lost = [f for f in other.shrunk if f["outcome"] == "wrong" and not f["cause"].startswith(SPACE) or f["cause"] == "two messages render to this text"]
        expressed = not lost
    return {
        **result,
        "counts": {kind: dict(counts) for kind, counts in trial.counts.items()},
        "total": dict(total),
        "refusals": dict(trial.refusals),
        "reasons": dict(trial.reasons),
        "failures": trial.shrunk,
        "asked": len(asked),
        "growth": growth,
        "ways": {kind: way and str(way[0]) for kind, way in trial.ways.items()},
        "switches": trial.switches,
        "unjudged_tails": trial.unjudged,
        "own_counterexamples_come_back": own_counterexamples_come_back(document, report) if report["verdict"] == "inexpressible" else None,
        "expressed_by_hand": expressed,
        # What the report shows cannot be seen in any render by this judge, such as a name that is written in capitals.
        "shown_was_not_asked": bool(given) and SHOWN not in trial.counts,
        "seconds": round(time.time() - began, 2),
    }


def shown(value, limit=700):
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else text[: limit // 2] + " … " + text[-limit // 2 :]


def tell(failure):
    kwargs = f", kwargs {json.dumps(failure['kwargs'])}" if failure.get("kwargs") else ""
    print(f"    {failure['outcome']}: {failure['cause']}  [{failure['kind']}; {failure['context']}; {failure['manner']}{kwargs}]")
    print(f"      message   {shown(failure['message'])}")
    print(f"      prefix    …{shown(json.dumps(failure['prefix'][-60:], ensure_ascii=False))}")
    print(f"      response  {shown(json.dumps(failure['response'], ensure_ascii=False))}")
    print(f"      parsed    {shown(failure['parsed'])}")
    if "streamed" in failure:
        print(f"      in chunks {shown(failure['streamed'])} (of {failure['size']})")
    elif failure["cause"] in ("renders otherwise", "number written otherwise"):
        print(f"      again     …{shown(json.dumps(failure['again'][-160:], ensure_ascii=False))}")


def read_known(path):
    known = set()
    if path and path.exists():
        for line in path.read_text().splitlines():
            if line.strip() and not line.startswith("#"):
                source, _, cause = line.partition("\t")
                known.add((source.strip(), cause.strip()))
    return known


def main():
    options = arguments()
    from renaming import STYLES, renamed

    obverse = binary(options.obverse)
    amount = 6 if options.thorough else 1
    tasks = []
    for path in sources(options.sources):
        name = label(path)
        if options.only not in name:
            continue
        source = path.read_text(encoding="utf-8")
        tasks.append((name, source, (), obverse, options.seed, amount, written_by_hand(path)))
        if options.renamed:
            for style in STYLES:
                if other := renamed(source, style):
                    tasks.append((f"{name} ({style})", other[0], tuple(other[1]) if style == "words" else (), obverse, options.seed, amount, None))
    began = time.time()
    known, used = read_known(options.known), set()
    wrong, back, faults, ungrown, passed, grown = [], [], [], [], 0, 0
    verdicts, messages, by_cause, results = Counter(), Counter(), {}, []
    pool = multiprocessing.Pool(options.jobs)
    for result in pool.imap(judge, tasks):
        results.append(result)
        verdicts[result["verdict"]] += 1
        messages.update(result.get("total", {}))
        counts = result.get("total", {})
        asked = sum(counts.get(k, 0) for k in ("right", "wrong", "slight", "spoken", "ambiguous"))
        line = f"{result['verdict']:14} {result['name']}  right {counts.get('right', 0)}/{asked}"
        line += "".join(f", {k} {counts[k]}" for k in ("wrong", "slight", "spoken", "ambiguous", "invisible", "continued", "refused", "not shown", "out of time") if counts.get(k))
        print(line, flush=True)
        if "fault" in result:
            faults.append(result["name"])
            print(result["trace"])
            continue
        if result["error"] and "counts" not in result:
            print("    " + result["error"])
        grown += result.get("asked", 0)
        if result.get("growth"):
            ungrown.append(result["name"])
            first = result["growth"][0]
            print(f"    {len(result['growth'])} of {result['asked']} and more: {shown(first['cause'])}")
            for key in ("line", "told", "parsed"):
                print(f"      {key:9} {shown(first.get(key))}")
        bad = [f for f in result.get("failures", []) if f["outcome"] == "wrong" or options.strict and f["outcome"] in ("spoken", "slight")]
        if result["verdict"] == "proved":
            new = []
            for failure in bad:
                by_cause.setdefault(failure["cause"], []).append(result["name"])
                entries = {(n, failure["cause"]) for n in (result["name"], result["name"].split(" (")[0], "*")} & known
                used |= entries
                if not entries:
                    new.append(failure)
            if bad:
                wrong.append((result["name"], new))
            for failure in result["failures"] if options.verbose else new:
                tell(failure)
            passed += not new
        elif result["verdict"] == "inexpressible":
            all_back = not any(not f["cause"].startswith(SPACE) for f in bad) and not counts.get("ambiguous") and not result["shown_was_not_asked"]
            entry = (result["name"], "called inexpressible")
            if result["own_counterexamples_come_back"] or result["expressed_by_hand"] or all_back:
                back.append(result["name"])
                passed += entry in known
                used |= {entry} & known
                print("    called inexpressible, but all came back" + (", by the response template beside it" if result["expressed_by_hand"] else ""))
            else:
                passed += 1
            if options.verbose:
                for failure in result["failures"]:
                    tell(failure)
        else:
            passed += 1
    pool.close()
    pool.join()
    failed = len(tasks) - passed + len(ungrown)

    print()
    for cause, names in sorted(by_cause.items(), key=lambda item: -len(item[1])):
        print(f"  {len(names):4}  {cause}: {', '.join(names[:4])}{' …' if len(names) > 4 else ''}")
    tails = [r["name"] for r in results if r.get("unjudged_tails")]
    but = [name for name, new in wrong if new]
    unlike = sorted({n for c, ns in by_cause.items() if not c.startswith(SPACE) for n in ns})
    print(f"verdicts: {dict(verdicts)}; messages: {dict(messages)}; {time.time() - began:.0f} s")
    silent = [r["name"] for r in results if r["verdict"] == "proved" and not any(r.get("total", {}).get(k) for k in ("right", "wrong", "slight", "spoken", "ambiguous"))]
    print(f"proved, but nothing could be asked: {len(silent)}{': ' + ', '.join(silent) if silent else ''}")
    print(f"prompt tail not shown by any render: {len(tails)}{': ' + ', '.join(tails) if tails else ''}")
    judged = {r["name"] for r in results}
    if stale := sorted(entry for entry in known - used if entry[0] in judged):
        print(f"known failures that were not seen: {stale}")
    print(f"proved and yet wrong: {len(wrong)} (but for white space at the ends of texts: {len(unlike)}; not known: {len(but)})")
    print(f"called inexpressible and yet coming back: {len(back)}{': ' + ', '.join(back) if back else ''}")
    print(f"responses whose growth was put together: {grown}; not the message for {len(ungrown)} sources{': ' + ', '.join(ungrown) if ungrown else ''}")
    if options.write_known:
        lines = [f"*\t{SPACE} of a text"] if any(c == f"{SPACE} of a text" for c in by_cause) else []
        lines += sorted({f"{name.split(' (')[0]}\t{cause}" for cause, names in by_cause.items() for name in names if cause != f"{SPACE} of a text"})
        options.write_known.write_text(KNOWN + "".join(line + "\n" for line in lines))
    if options.json:
        options.json.write_text(json.dumps(results, ensure_ascii=False, indent=1))
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
