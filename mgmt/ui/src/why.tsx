// Why nothing is received from an entity.
import { at, get, type Schemas } from "./api";
import { number, plural } from "./format";
import { Badge, Loading, Panel, Problem, Tabs, Text } from "./kit";
import { deadLetters, topicOf } from "./names";
import { usePoll } from "./poll";
import { link, refine, route, withQuery } from "./route";
import { Search } from "./events";

type Diagnosis = Schemas["Diagnosis"];

const titles: Partial<Record<Diagnosis["findings"][number]["code"], string>> = { receiving: "receiving", expired: "expired", "dead-lettered": "dead-lettered" };

// selecting are the findings about rules that select no message.
const selecting = new Set<string>(["no-rules", "rules-match-nothing", "rules-leave-out"]);

// standing says what a finding is: it blocks, it follows from one that does, or it explains.
function standing(f: Diagnosis["findings"][number], all: Diagnosis["findings"]): "blocks" | "follows" | "" {
  if (!f.blocks) return "";
  return f.code === "empty" && all.some((x) => x.blocks && (selecting.has(x.code) || x.code === "no-subscriptions")) ? "follows" : "blocks";
}

export function Why({ path }: { path: string }) {
  const { namespace, query } = route.value;
  const sub = query.sub === "dead" ? path + "/" + deadLetters : path;
  const p = usePoll(JSON.stringify([namespace, sub, query.client]), 2000, (signal) =>
    get<Diagnosis>(at`${namespace}/entities/${sub}/why`, { client: query.client }, signal));
  const d = p.value;
  const here = link("entity", path, "why"), topic = topicOf(path);
  return (
    <>
      <div class="bar">
        <Tabs at={query.sub ?? ""} tabs={[{ name: "", href: here, title: "Messages" }, { name: "dead", href: withQuery(here, { sub: "dead" }), title: "Dead-letter queue" }]} />
        <Search label="Only this client" value={query.client ?? ""} set={(client) => refine({ client })} />
      </div>
      {p.error && <Problem text={p.error} retry={p.refresh} />}
      {!d && !p.error && <Loading />}
      {d && (
        <Panel title={<span role="status">{d.blocked ? "Nothing can be received now" : "Messages can be received"}</span>} actions={<span class="faint">{number(d.available)} available · {plural(d.receivers, "receiver")}</span>}>
          <ol class="findings">
            {d.findings.map((f, i) => {
              const is = standing(f, d.findings);
              return (
                <li key={i} class={is === "blocks" ? "blocks" : ""}>
                  <p><Badge tone={is === "blocks" ? "bad" : f.code === "receiving" ? "good" : ""}>{is === "follows" ? "so" : is || (titles[f.code] ?? f.code.replaceAll("-", " "))}</Badge> <Text class="wrap">{f.text}</Text></p>
                  {topic && selecting.has(f.code) && <p><a href={link("entity", topic, "test")}>Test a message of <Text>{topic}</Text></a></p>}
                  {f.fix && is !== "follows" && <p class="fix"><b>What to do</b> <Text class="wrap">{f.fix}</Text></p>}
                </li>
              );
            })}
          </ol>
        </Panel>
      )}
    </>
  );
}
