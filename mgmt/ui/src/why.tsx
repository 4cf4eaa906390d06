// Why nothing is received from an entity.
import { at, get, type Schemas } from "./api";
import { duration, number, plural, time } from "./format";
import { Badge, Loading, Panel, Problem, Text } from "./kit";
import { deadLetters, topicOf } from "./names";
import { usePoll } from "./poll";
import { link, refine, route, withQuery } from "./route";
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

// inWords shows a text of the server with local times, durations as elsewhere, and the names of subscriptions as tables have them.
const inWords = (text: string) => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (t) => time(Date.parse(t), now.value)).replace(/\(in ((?:\d+h)?(?:\d+m)?\d+)(?:\.\d+)?s\)/g, (_, t: string) => `(in ${duration("PT" + t.toUpperCase() + "S")})`)
  .replace(/between (\S+ \(in [^)]*\)) and \1/, "until $1").replaceAll("/Subscriptions/", "/");

// Said is such a text with links to the connections that it names.
function Said({ text }: { text: string }) {
  return <span class="wrap">{inWords(text).split(/\b(connection c\d+)\b/).map((part, i) => i % 2 ? <a key={i} href={withQuery(link("connections"), { connection: part.slice(11) })}>{part}</a> : <Text key={i}>{part}</Text>)}</span>;
}

// placeFor is where a finding can be seen or changed.
function placeFor(code: Diagnosis["findings"][number]["code"], path: string): [string, string] | undefined {
  switch (code) {
    case "disabled": case "send-disabled": case "forwards": case "forward-waits": case "parked":
      return ["Settings", link("entity", path, "settings")];
    case "dead-lettered":
      return ["Dead letters", link("entity", path, "dead")];
    case "sessions-held": case "other-session":
      return ["Sessions", link("entity", path, "sessions")];
    case "scheduled": case "deferred": case "locked":
      return [`The ${code} messages`, withQuery(link("entity", path, "messages"), { state: code })];
    case "no-receiver":
      return ["Connect a client", link("connect")];
    case "refused":
      return ["Connections", link("connections")];
    default:
      return undefined;
  }
}

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
              const is = standing(f, d.findings), place = dead ? undefined : placeFor(f.code, path);
              return (
                <li key={i} class={is === "blocks" ? "blocks" : ""}>
                  <p><Badge tone={is === "blocks" ? "bad" : f.code === "receiving" ? "good" : ""}>{is === "follows" ? "so" : is || (titles[f.code] ?? f.code.replaceAll("-", " "))}</Badge> <Said text={f.text} /></p>
                  {topic && selecting.has(f.code) && <p><a href={link("entity", topic, "test")}>Test a message of <Text>{topic}</Text></a></p>}
                  {f.fix && is !== "follows" && <p class="fix"><b>What to do</b> <Text class="wrap">{inWords(f.fix)}</Text>{place && <>{" "}<a href={place[1]}>{place[0]}</a></>}</p>}
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
