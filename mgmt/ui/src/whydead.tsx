// Why a message is a dead letter: what its receiver or the service said of it, and who moved it when.
import { useEffect, useState } from "preact/hooks";
import { number } from "./format";
import { Text, Time } from "./kit";
import { useLife } from "./life";
import { Client } from "./eventtable";
import { read, textOfValue, type Message } from "./message";
import { shown } from "./names";
import { link, route } from "./route";

const long = 320; // characters or
const lines = 4; // lines of a description that are shown at once

export const descriptionOf = (m: Message): string => textOfValue(m.applicationProperties?.DeadLetterErrorDescription);

function Description({ text }: { text: string }) {
  const [all, show] = useState(false), rows = text.split("\n"), cut = text.length > long || rows.length > lines;
  if (!text) return <p class="faint">No description was given.</p>;
  return (
    <>
      <p class="wrap why-text"><Text>{cut && !all ? rows.slice(0, lines).join("\n").slice(0, long) + "…" : text}</Text></p>
      {cut && <button type="button" class="link" onClick={() => show(!all)}>{all ? "Show less" : "Show all of it"}</button>}
    </>
  );
}

function Facts({ m, path }: { m: Message; path: string }) {
  const life = useLife(route.value.namespace, { entity: path, sequenceNumber: String(m.sequenceNumber) });
  const e = life.value?.items.findLast((x) => x.kind === "deadLettered" && x.sequenceNumber === m.sequenceNumber);
  const source = m.deadLetterSource;
  return (
    <p class="why-facts">
      <span>Delivery count {number(m.deliveryCount ?? 0)}</span>
      {e && <span>Dead-lettered <Time at={e.time} /></span>}
      {e && <span>by {e.client ? <Client c={e.client} /> : "the service"}</span>}
      {source && source.toLowerCase() !== path.toLowerCase() && <span>from <a href={link("entity", source, "dead")}><Text>{shown(source)}</Text></a></span>}
      {life.value && !e && <span class="faint">The history no longer says when and by whom.</span>}
    </p>
  );
}

// WhyDead stands above the body of a dead letter.
export function WhyDead({ m, path }: { m: Message; path: string }) {
  return (
    <section class="why-dead" aria-label="Why it is a dead letter">
      <h3><Text class="wrap">{m.deadLetterReason || "No reason was given"}</Text></h3>
      <Description text={descriptionOf(m)} />
      <Facts m={m} path={path} />
    </section>
  );
}

// WhyEdited is the same above the editor, folded.
export function WhyEdited({ entity, number, path }: { entity: string; number: string; path: string }) {
  const namespace = route.value.namespace;
  const [m, set] = useState<Message>();
  useEffect(() => {
    const end = new AbortController();
    read(namespace, entity, number, end.signal, 0).then(set, () => undefined); // the editor says what is wrong
    return () => end.abort();
  }, [namespace, entity, number]);
  return (
    <details class="why-dead">
      <summary><b><Text>{m ? m.deadLetterReason || "No reason was given" : "…"}</Text></b> <Text class="faint">{m ? descriptionOf(m).split("\n", 1)[0]! : ""}</Text></summary>
      {m && <><Description text={descriptionOf(m)} /><Facts m={m} path={path} /></>}
    </details>
  );
}
