"""What `obverse derive` takes of the processor for each chat template, the best of several runs, in milliseconds.

    python benches/deriving.py                                  every chat template at hand, with target/release/obverse
    python benches/deriving.py --beside OTHER [CHAT_TEMPLATE..] the same beside another binary, by turns, with the ratio of the two

Processor time and not time on the clock, so that a machine that does other things as well changes it little; what two binaries take by
turns may be compared wherever it was measured.
"""

import argparse
import resource
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def processor_time(binary, path):
    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    subprocess.run([binary, "derive", "--color=never", path], capture_output=True)
    return (spent() - before) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("chat_templates", nargs="*", type=Path)
    parser.add_argument("--obverse", type=Path, default=ROOT / "target/release/obverse", help="the binary")
    parser.add_argument("--beside", type=Path, help="another binary, which is run by turns with the first")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--limit", type=float, default=50, help="what takes longer is listed")
    given = parser.parse_args()
    folders = [ROOT / "chat_templates", *sorted((ROOT / "corpus").glob("*/")), ROOT / "tests/invented"]
    paths = given.chat_templates or [path for folder in folders for path in sorted(folder.glob("*.jinja"))]
    binaries = [given.obverse, *([given.beside] if given.beside else [])]
    rows = []
    for path in paths:
        best = [min(times) for times in zip(*([processor_time(b, path) for b in binaries] for _ in range(given.runs)))]
        rows.append((best, path))
    rows.sort(reverse=True)
    for best, path in rows:
        if best[0] > given.limit:
            ratio = f"  {best[0] / best[1]:.2f} times" if len(best) > 1 else ""
            print("  ".join(f"{time:8.1f}" for time in best) + f"{ratio}  {path}")
    for at, binary in enumerate(binaries):
        times = sorted(best[at] for best, _ in rows)
        over = [sum(time > limit for time in times) for limit in (20, given.limit)]
        print(f"{binary}: {len(times)} chat templates, {times[len(times) // 2]:.1f} in the middle, {times[-1]:.0f} at most, "
              f"{sum(times) / 1000:.1f} s together; {over[0]} above 20, {over[1]} above {given.limit:g}")


if __name__ == "__main__":
    main()
