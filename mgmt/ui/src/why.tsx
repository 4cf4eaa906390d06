// Why nothing is received from an entity.
import { at, get, type Schemas } from "./api";
import { number, plural, time } from "./format";
import { Badge, Loading, Panel, Problem, Text } from "./kit";
import { deadLetters, topicOf } from "./names";
import { usePoll } from "./poll";
import { link, refine, route } from "./route";
import { Search } from "./events";
import { now } from "./state";
import { Subscriptions } from "./subscriptions";

type Diagnosis = Schemas["Diagnosis"];

const titles: Partial<Record<Diagnosis["findings"][number]["code"], string>> = { receiving: "receiving", expired: "expired", "dead-lettered": "dead-lettered" };

// selecting are the findings about rules that select no message.
const selecting = new Set<string>(["no-rules", "rules-match-nothing", "rules-leave-out"]);

// standing says what a finding is: it blocks, it follows from one that does, or it explains.
function standing(f: Diagnosis["findings"][number], all: Diagnosis["findings"]): "blocks" | "follows" | "" {
  if (!f.blocks) return "";
  return f.code === "empty" && all.some((x) => x.blocks && (selecting.has(x.code) || x.code === "no-subscriptions")) ? "follows" : "blocks";
}

// inWords shows a text of the server with local times, whole seconds, and the names of subscriptions as tables have them.
const inWords = (text: string) => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (t) => time(Date.parse(t), now.value)).replace(/(\d)\.\d+s\)/g, "$1s)").replace(/between (\S+ \(in \S+\)) and \1/, "until $1").replaceAll("/Subscriptions/", "/");

// ordered puts what explains the rest first: where there is no message, a receiver would get none.
function ordered(d: Diagnosis): Diagnosis["findings"] {
  const first = d.available === 0 ? d.findings.filter((f) => f.code === "empty" && !d.findings.some((x) => selecting.has(x.code))) : [];
  return [...first, ...d.findings.filter((f) => !first.includes(f) && f.code !== "topic")];
}

export function Why({ path, topic: isTopic, sent }: { path: string; topic: boolean; sent: number }) {
  const { namespace, query } = route.value;
  const dead = query.sub === "dead" && !isTopic, sub = dead ? path + "/" + deadLetters : path;
  const p = usePoll(JSON.stringify([namespace, sub, query.client]), 2000, (signal) =>
    get<Diagnosis>(at`${namespace}/entities/${sub}/why`, { client: query.client }, signal));
  const d = p.value, findings = d ? ordered(d) : [], blocked = isTopic ? findings.some((f) => f.blocks) : d?.blocked;
  const topic = topicOf(path);
  return (
    <>
      {!isTopic && (
        <div class="bar">
          <div class="chips" role="group" aria-label="Queue">
            <button type="button" class="chip" aria-pressed={!dead} onClick={() => refine({ sub: undefined })}>Messages</button>
            <button type="button" class="chip" aria-pressed={dead} onClick={() => refine({ sub: "dead" })}>Dead letters</button>
          </div>
          <Search label="Only this client" hint="Client name, connection or address" value={query.client ?? ""} set={(client) => refine({ client })} />
        </div>
      )}
      {p.error && <Problem text={p.error} retry={p.refresh} />}
      {!d && !p.error && <Loading />}
      {d && (!isTopic || findings.length > 0) && (
        <Panel title={<span role="status">{isTopic ? (blocked ? "Messages are lost or refused" : "In the topic") : blocked ? "Nothing can be received now" : "Messages can be received"}</span>}
          actions={!isTopic && <span class="faint">{number(d.available)} available · {plural(d.receivers, "receiver")}</span>}>
          <ol class="findings">
            {findings.map((f, i) => {
              const is = standing(f, d.findings);
              return (
                <li key={i} class={is === "blocks" ? "blocks" : ""}>
                  <p><Badge tone={is === "blocks" ? "bad" : f.code === "receiving" ? "good" : ""}>{is === "follows" ? "so" : is || (titles[f.code] ?? f.code.replaceAll("-", " "))}</Badge> <Text class="wrap">{inWords(f.text)}</Text></p>
                  {topic && selecting.has(f.code) && <p><a href={link("entity", topic, "test")}>Test a message of <Text>{topic}</Text></a></p>}
                  {f.fix && is !== "follows" && <p class="fix"><b>What to do</b> <Text class="wrap">{f.fix}</Text></p>}
                </li>
              );
            })}
          </ol>
        </Panel>
      )}
      {isTopic && <Subscriptions topic={path} sent={sent} />}
      {isTopic && <p><a href={link("entity", path, "test")}>Test a message</a> to see which subscriptions would get it, and why.</p>}
    </>
  );
}
