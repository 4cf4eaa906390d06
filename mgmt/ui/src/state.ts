// What all screens share: the namespaces, the entities of the current one with their counts, its clock, and the setting of the page.
import { computed, effect, signal } from "@preact/signals";
import { all, at, Failure, get, textOf, type Entity, type Namespace, type Schemas } from "./api";
import { asksForKey } from "./auth";
import { keptHere } from "./kept";
import { every } from "./poll";
import { go, leaving, linkIn, route } from "./route";

export type Clock = Schemas["Clock"];
export type Counts = Schemas["Counts"];

export const namespaces = signal<Namespace[] | undefined>(undefined);
export const entities = signal<Entity[] | undefined>(undefined);
export const trouble = signal(""); // why the last request for the entities failed
const gone = signal(false); // the server does not answer: what is shown is old
export const clock = signal<{ offset: number; frozen?: number } | undefined>(undefined);
export const tick = signal(Date.now()); // ms; once a second while the page is visible
export const theme = keptHere<"system" | "light" | "dark">("theme", "system");
export const favourites = keptHere<string[]>("favourites", []);

export const current = computed(() => route.value.namespace);

export const entityAt = computed(() => new Map((entities.value ?? []).map((e) => [e.path.toLowerCase(), e])));

// missing reports whether the namespace of the address is none that there is.
export const missing = computed(() => {
  const named = current.value.toLowerCase();
  return named !== "" && namespaces.value !== undefined && !namespaces.value.some((n) => n.name.toLowerCase() === named);
});

// now is what the clock of the namespace shows.
export const now = computed(() => {
  const c = clock.value;
  return c?.frozen ?? tick.value + (c?.offset ?? 0);
});

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});

effect(() => {
  document.documentElement.classList.toggle("gone", gone.value);
});

every(() => 1000, async () => {
  if (!gone.value) tick.value = Date.now();
});

function readClock(c: Clock): void {
  const shown = Date.parse(c.now);
  clock.value = c.frozen ? { offset: shown - Date.now(), frozen: shown } : { offset: Math.abs(shown - Date.now()) < 1500 ? 0 : shown - Date.now() };
}

let round = 0;

// load asks for the entities each time, and for the clock and the namespaces now and then.
async function load(signal: AbortSignal): Promise<void> {
  if (asksForKey.value) return;
  let named = current.value;
  try {
    let wrong = !namespaces.value || missing.value || round % 10 === 9 ? await failureOf(loadNamespaces(signal)) : "";
    named = current.value;
    if (!named || missing.value) {
      trouble.value = wrong;
      return;
    }
    const asked = !clock.value || round % 5 === 4 ? failureOf(loadClock(named, signal)) : "";
    const list = await all<Entity>(at`${named}/entities`, {}, 20_000, signal);
    round++;
    gone.value = false;
    if (current.value !== named) return;
    entities.value = list;
    wrong ||= await asked;
    if (current.value === named) trouble.value = wrong;
  } catch (e) {
    if (signal.aborted || current.value !== named) return;
    gone.value = e instanceof Failure && e.status === 0;
    if (e instanceof Failure && e.status === 404) await failureOf(loadNamespaces(signal));
    if (current.value !== named) return;
    trouble.value = missing.value ? "" : textOf(e);
    if (missing.value) entities.value = clock.value = undefined;
  }
}

// failureOf waits for a part of a round, and returns why it failed. The round goes on: each part of the page shows what is known.
const failureOf = (part: Promise<void>): Promise<string> => part.then(() => "", textOf);

async function loadClock(named: string, signal: AbortSignal): Promise<void> {
  const c = await get<Clock>(at`${named}/clock`, { due: 1 }, signal);
  if (current.value === named) readClock(c);
}

async function loadNamespaces(signal: AbortSignal): Promise<void> {
  const list = (await get<Schemas["NamespaceListBody"]>("namespaces", {}, signal)).namespaces;
  namespaces.value = list;
  if (!route.value.namespace && !leaving()) {
    const first = list.find((n) => n.default) ?? list[0];
    if (first) {
      location.replace(linkIn(first.name, ""));
    }
  }
}

let poll: ReturnType<typeof every> | undefined;

// refresh asks at once, after an act that changes what is shown.
export function refresh(): void {
  poll?.now();
}

export function refreshClock(c: Clock): void {
  readClock(c);
  refresh();
}

export function start(): void {
  let of = "";
  effect(() => {
    const named = current.value;
    if (named === of) return;
    of = named;
    entities.value = undefined;
    clock.value = undefined;
    round = 0;
    poll?.now();
  });
  effect(() => {
    if (!asksForKey.value) poll?.now();
  });
  poll = every(() => Math.max(2000, entities.value?.length ?? 0), load); // of ten thousand entities every ten seconds
}

// Favourites are compared without case, since an older Minibus showed names in the case of their creation.
const favourite = (path: string) => (current.value + "\n" + path).toLowerCase();

export function toggleFavourite(path: string): void {
  const key = favourite(path), others = favourites.value.filter((f) => f.toLowerCase() !== key);
  favourites.value = others.length < favourites.value.length ? others : [...others, key];
}

export const isFavourite = (path: string): boolean => favourites.value.some((f) => f.toLowerCase() === favourite(path));

export function openEntity(path: string, ...rest: string[]): void {
  go(linkIn(current.value, "entity", path, ...rest));
}
