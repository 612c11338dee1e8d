//! The page.

use obverse::derive::{Deviation, UnclaimedCount, Verdict};

use super::limits;
use super::peers::Peer;
use super::rows;
use crate::support::derived::Derived;

const HEAD: &str = "\
# Formats

What `obverse derive` makes of every chat template that is at hand: those of this project, one for each wire format, and the real
ones that `tests/corpus/fetch.py` fetches. This page is written by `OBVERSE_UPDATE=1 cargo test --test reference formats -- --ignored`; the same test
without it fails when the page is stale.

*proved*: every kind of message that the chat template reads is rendered, and whatever can be seen of each message in its render came
back from it. *proved in part*: the same, but something that the chat template asks for or the response template reads is shown by no
render; the first of it is named. *inexpressible*: all but those came back that no response template can bring back; the closest one is
given. *not proved*: something else did not come back; the reason is the first of the report's errors. *kinds*: how many of the kinds of
messages that are rendered came back whole. *rounds*: messages that came back; beside them those that did not, those that stand for
another message because of what is in a text of them (alike), those that the chat template refuses or of which it leaves out what makes
their kind (skipped), and those whose reasoning it drops, written in by hand (injected). *Missed*: messages that do not come back although no other renders alike; the
[grammar](grammars.md#what-a-response-template-misses) of the format, which `obverse derive --grammar FILE` writes and `obverse parse` takes, reads so many of them.
";

/// The whole page.
pub fn write(all: &[Derived], peers: &[Peer]) -> String {
    let mut out = HEAD.to_owned();
    let (own, real): (Vec<&Derived>, Vec<&Derived>) = all
        .iter()
        .partition(|derived| derived.name.starts_with("chat_templates/"));
    out.push_str(&format!(
        "\n{}\n",
        summary("Of this project's chat templates", &own)
    ));
    out.push_str(&format!("{}\n", summary("Of the real ones", &real)));
    out.push_str("\n## The project's own\n\n");
    out.push_str(&table(&rows::HEADS, own.into_iter().map(rows::cells)));
    out.push_str("\n## Real ones\n\n");
    out.push_str(&table(&rows::HEADS, real.into_iter().map(rows::cells)));
    out.push_str(LIMITS);
    let heads = ["why", "response", "message", "what comes of it"];
    out.push_str(&table(&heads, limits::rows(all).into_iter()));
    out.push_str(&deviations(all));
    out.push_str(&unclaimed(all));
    out.push_str(&beside(peers));
    out
}

fn summary(what: &str, some: &[&Derived]) -> String {
    let count = |verdict: Verdict| {
        some.iter()
            .filter(|derived| {
                derived
                    .outcome
                    .as_ref()
                    .is_ok_and(|derivation| derivation.report.verdict == verdict)
            })
            .count()
    };
    format!(
        "{what} {} of {} are proved, {} in part, {} are inexpressible, {} are not proved.",
        count(Verdict::Proved),
        some.len(),
        count(Verdict::ProvedInPart),
        count(Verdict::Inexpressible),
        count(Verdict::NotProved),
    )
}

const LIMITS: &str = "
## What no response template can say

For each reason why something is *inexpressible* the smallest message that shows it, what the chat template renders for it, and what comes back instead:
the other message, which renders to the same text; the error; or, where a value is written in a way that the format does not read, what each
content parser makes of it.

";

const DEVIATIONS: &str = "
## What models write otherwise

Each derivation tries what models and engines write otherwise than their chat template renders: a rendered response is changed, and must still give
its message. No render shows such responses, so they are no part of the verdict; each report has them under `deviations`, with the smallest response that
did not come back. *tried*: for how many chat templates a response could be changed so; *borne*: for how many of them all such responses came back.

";

fn deviations(all: &[Derived]) -> String {
    let reports = all
        .iter()
        .filter_map(|derived| derived.outcome.as_ref().ok());
    let verdicts: Vec<_> = reports
        .flat_map(|derivation| &derivation.report.deviations)
        .collect();
    let rows = Deviation::ALL.into_iter().map(|deviation| {
        let of_it = verdicts.iter().filter(|one| one.deviation == deviation);
        let borne = of_it.clone().filter(|one| one.came_back == one.tried);
        [
            deviation.words().to_owned(),
            of_it.count().to_string(),
            borne.count().to_string(),
        ]
    });
    format!(
        "{DEVIATIONS}{}",
        table(&["deviation", "tried", "borne"], rows)
    )
}

const UNCLAIMED: &str = "
## Text that is in no field

A response template drops text that stands in none of its fields, and tags of a call that are not written out. Each derivation counts of how many responses some text other than white space was dropped: as they are rendered,
changed as above, and cut short at a dozen places. Its report has the shortest under `unclaimed`. Of all chat templates those that are not in this table drop none.

";

fn unclaimed(all: &[Derived]) -> String {
    let reports = all
        .iter()
        .filter_map(|derived| Some((derived, &derived.outcome.as_ref().ok()?.report.unclaimed)));
    let losing = reports.filter(|(_, unclaimed)| unclaimed.lost() > 0);
    let rows = losing.map(|(derived, unclaimed)| {
        let of = |count: &UnclaimedCount| format!("{} of {}", count.lost, count.tried);
        [
            derived.name.clone(),
            of(&unclaimed.renders),
            of(&unclaimed.deviations),
            of(&unclaimed.cuts),
            unclaimed
                .example()
                .map(|found| rows::verbatim(&found.text))
                .unwrap_or_default(),
        ]
    });
    let heads = [
        "chat template",
        "rendered",
        "changed",
        "cut short",
        "for example",
    ];
    format!("{UNCLAIMED}{}", table(&heads, rows))
}

const BESIDE: &str = "
## Beside response templates written by hand

TRL 1.16 keeps nine response templates, written by hand, for 26 of its chat templates. The same responses are parsed with theirs
and with ours, by transformers 5.23.0 and by Obverse: whatever the chat template renders of messages of every kind where it goes on
from the prompt, the same with white space varied around the markers and JSON written in other ways, and the responses by
which our derivation was proved that follow a prompt. A response is parsed right when the message comes back: its reasoning under whichever key, its
content, its calls with their arguments, typed by the tools' schemas. Ids are not compared.

";

fn beside(peers: &[Peer]) -> String {
    let mut out = BESIDE.to_owned();
    out.push_str(&table(
        &[
            "chat template",
            "theirs",
            "responses",
            "ours right",
            "theirs right",
            "theirs alone",
            "what theirs get wrong",
        ],
        peers.iter().map(|peer| {
            [
                peer.name.clone(),
                format!("`{}`", peer.theirs),
                peer.responses.to_string(),
                match peer.is_proved() {
                    true => peer.ours_right.to_string(),
                    false => format!("{} (not all proved)", peer.ours_right),
                },
                peer.theirs_right.to_string(),
                peer.missed.len().to_string(),
                peer.wrong.join("; "),
            ]
        }),
    ));
    let total = |count: fn(&Peer) -> usize| peers.iter().map(count).sum::<usize>();
    out.push_str(&format!(
        "\nOf {} responses ours parse {} right, theirs {}.\n",
        total(|peer| peer.responses),
        total(|peer| peer.ours_right),
        total(|peer| peer.theirs_right),
    ));
    out
}

fn table<const N: usize>(heads: &[&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut out = format!("| {} |\n|{}\n", heads.join(" | "), "---|".repeat(N));
    for cells in rows {
        out.push_str(&row(&cells));
    }
    out
}

/// A row of a table.
pub fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}
