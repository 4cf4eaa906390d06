// The settings of queues, topics and subscriptions: what they are called, what they hold, and what counts without them.
import type { Schemas } from "./api";
import { isoOf, typedDuration } from "./durations";

export type Kind = "queue" | "topic" | "subscription";

export interface Setting {
  name: keyof Schemas["EntityProperties"];
  title: string;
  type: "duration" | "number" | "flag" | "entity" | "status" | "text";
  unit?: string;
  initial: string; // what counts if nothing is typed, as a text; empty: see help
  help: string;
  kinds: Kind[];
  fixed?: boolean; // at creation
  ours?: boolean; // Config.json has another default, so this one is written
}

export interface Group {
  title: string;
  settings: Setting[];
}

const both: Kind[] = ["queue", "topic"], holders: Kind[] = ["queue", "subscription"], all: Kind[] = ["queue", "topic", "subscription"];

// The defaults are those of the service. Where Config.json has another one, the explorer writes its own.
const groups: Group[] = [
  { title: "Delivery", settings: [
    { name: "LockDuration", title: "Lock duration", type: "duration", initial: "1m", kinds: holders, help: "How long a receiver holds a message before others can get it. 5m at most." },
    { name: "MaxDeliveryCount", title: "Max delivery count", type: "number", initial: "10", ours: true, kinds: holders, help: "Deliveries after which a message moves to the dead-letter queue." },
    { name: "RequiresSession", title: "Sessions", type: "flag", initial: "false", fixed: true, kinds: holders, help: "Every message needs a session id. One receiver at a time gets a session, in order." },
  ] },
  { title: "Time to live and dead letters", settings: [
    { name: "DefaultMessageTimeToLive", title: "Time to live", type: "duration", initial: "never", ours: true, kinds: all, help: "When messages expire, unless they set a shorter time themselves." },
    { name: "DeadLetteringOnMessageExpiration", title: "Dead-letter expired messages", type: "flag", initial: "false", kinds: holders, help: "Otherwise they are removed." },
    { name: "DeadLetteringOnFilterEvaluationExceptions", title: "Dead-letter on filter errors", type: "flag", initial: "true", kinds: ["subscription"], help: "When a rule fails for a message. Otherwise that rule is skipped." },
  ] },
  { title: "Duplicate detection", settings: [
    { name: "RequiresDuplicateDetection", title: "Detect duplicates", type: "flag", initial: "false", fixed: true, kinds: both, help: "Drops messages with an id that was sent before." },
    { name: "DuplicateDetectionHistoryTimeWindow", title: "History window", type: "duration", initial: "10m", ours: true, kinds: both, help: "How long message ids are remembered." },
  ] },
  { title: "Forwarding", settings: [
    { name: "ForwardTo", title: "Forward messages to", type: "entity", initial: "", kinds: holders, help: "A queue or topic. Nothing can be received here then." },
    { name: "ForwardDeadLetteredMessagesTo", title: "Forward dead letters to", type: "entity", initial: "", kinds: holders, help: "A queue or topic." },
  ] },
  { title: "Size and storage", settings: [
    { name: "MaxSizeInMegabytes", title: "Max size", type: "number", unit: "MiB", initial: "1024", kinds: both, help: "Of each partition, if there are any." },
    { name: "MaxMessageSizeInKilobytes", title: "Max message size", type: "number", unit: "KiB", initial: "", kinds: both, help: "Default: the limit of the namespace, usually 256." },
    { name: "EnablePartitioning", title: "Partitioning", type: "flag", initial: "false", fixed: true, kinds: both, help: "Spreads messages over 16 partitions, each with its own sequence numbers." },
    { name: "SupportOrdering", title: "Support ordering", type: "flag", initial: "true", kinds: ["topic"], help: "Off by default if the topic is partitioned." },
    { name: "EnableBatchedOperations", title: "Batched operations", type: "flag", initial: "true", kinds: all, help: "Kept for compatibility. No effect here." },
  ] },
  { title: "Status and lifetime", settings: [
    { name: "Status", title: "Status", type: "status", initial: "Active", kinds: all, help: "What clients may do." },
    { name: "AutoDeleteOnIdle", title: "Delete when idle for", type: "duration", initial: "never", kinds: all, help: "With all messages. 5m at least." },
    { name: "UserMetadata", title: "User metadata", type: "text", initial: "", kinds: all, help: "Any text." },
  ] },
];

// groupsOf returns the settings of a kind of entity.
export const groupsOf = (kind: Kind): Group[] =>
  groups.map((g) => ({ ...g, settings: g.settings.filter((s) => s.kinds.includes(kind)) })).filter((g) => g.settings.length > 0);

const titles = new Map<string, string>(groups.flatMap((g) => g.settings.map((s) => [s.name, s.title])));

// titleOf returns what a setting is called.
export const titleOf = (name: string): string | undefined => titles.get(name);

export const statuses: [string, string][] = [["Active", "Active"], ["Disabled", "Disabled: no sending, no receiving"], ["SendDisabled", "Send disabled: receive only"], ["ReceiveDisabled", "Receive disabled: send only"]];

// Texts holds the typed text of each setting, by its name.
export type Texts = Record<string, string>;

// textsOf returns the texts of the settings of an entity.
export function textsOf(kind: Kind, properties: Record<string, unknown>): Texts {
  const texts: Texts = {};
  for (const s of groupsOf(kind).flatMap((g) => g.settings)) {
    const v = properties[s.name];
    texts[s.name] = v === undefined || v === null ? s.initial : s.type === "duration" ? typedDuration(String(v)) : String(v);
  }
  return texts;
}

// propertiesOf makes settings of texts. What is empty has its default: null if that replaces what was. Wrong texts have their reasons.
export function propertiesOf(kind: Kind, texts: Texts, before?: Texts): { properties: Record<string, unknown>; wrong: Texts } {
  const properties: Record<string, unknown> = {}, wrong: Texts = {};
  for (const s of groupsOf(kind).flatMap((g) => g.settings)) {
    const typed = (texts[s.name] ?? "").trim(), text = typed === "" && s.ours ? s.initial : typed, old = before ? before[s.name] ?? "" : s.initial;
    if ((text === old && (before || !s.ours)) || (before && s.fixed)) continue;
    if (text === "") {
      if (before) properties[s.name] = s.type === "entity" || s.type === "text" ? "" : null;
      continue;
    }
    try {
      properties[s.name] = valueOf(s, text);
    } catch (e) {
      wrong[s.name] = (e as Error).message;
    }
  }
  return { properties, wrong };
}

// said says what a setting is, for the line of a folded group; undefined: nothing worth a word.
export function said(s: Setting, text = s.initial): string | undefined {
  const value = text.trim() || s.initial, title = s.title.toLowerCase();
  if (s.type === "flag") return `${title}: ${value === "true" ? "on" : "off"}`;
  if (s.type === "status") return `${title}: ${value}`;
  return value ? `${title}: ${value}${s.unit ? " " + s.unit : ""}` : s.type === "entity" ? `${title}: none` : undefined;
}

function valueOf(s: Setting, text: string): unknown {
  switch (s.type) {
    case "duration":
      return isoOf(text);
    case "flag":
      return text === "true";
    case "number":
      if (!/^\d[\d\s,]*$/.test(text)) throw new Error("Write a whole number.");
      return Number(text.replace(/\D/g, ""));
    default:
      return text;
  }
}
