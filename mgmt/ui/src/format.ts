// Numbers, sizes, durations and times as people read them.
import { keptHere } from "./kept";

const grouped = new Intl.NumberFormat("en");

// number is for people: 1,234. Ids and sequence numbers are never parted.
export const number = (n: number): string => grouped.format(n);

// short is for badges: 12, 1.2k, 34k, 5.6M.
export function short(n: number): string {
  if (n < 1000) return String(n);
  for (const [unit, size] of [["M", 1e6], ["k", 1e3]] as const) {
    if (n >= size) {
      const v = n / size;
      return (v < 10 ? Math.floor(v * 10) / 10 : Math.floor(v)) + unit;
    }
  }
  return String(n);
}

// perSecond shows a rate: 0, 0.4, 12, 3,400.
export const perSecond = (n: number): string => `${n > 0 && n < 9.95 ? n.toFixed(1) : number(Math.round(n))}/s`;

export function bytes(n: number): string {
  let v = n;
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (v < 1024 || unit === "GiB") return `${v < 10 && unit !== "B" ? v.toFixed(1) : number(Math.round(v))}\u00a0${unit}`;
    v /= 1024;
  }
  return number(n);
}

export const plural = (n: number, one: string, many = one + "s"): string => `${number(n)} ${n === 1 ? one : many}`;

// span says how long something is, in ms, with its two greatest units.
export function span(ms: number): string {
  const s = Math.floor(Math.abs(ms) / 1000);
  if (!(s >= 1)) return "0 s";
  const units: [number, string][] = [[86400 * 365, "y"], [86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const first = units.findIndex(([size]) => s >= size);
  const [size, name] = units[first]!;
  const whole = Math.floor(s / size), next = units[first + 1];
  const rest = next ? Math.floor((s % size) / next[0]) : 0;
  return rest > 0 && whole < 100 ? `${whole} ${name} ${rest} ${next![1]}` : `${whole} ${name}`;
}

const noTime = "no time";

// instantOf reads a time of an address in the form of RFC 3339, in ms; undefined if it is none. So has the server its times, to the year 9999.
export function instantOf(text: string): number | undefined {
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[-+]\d\d:\d\d)$/i.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

// age says how far an instant is from now.
export function age(at: number, now: number): string {
  const past = now - at;
  if (Number.isNaN(past)) return noTime;
  if (Math.abs(past) < 1000) return "now";
  return past > 0 ? span(past) + " ago" : "in " + span(past);
}

// shortAge is age in one unit, for cells of tables.
export function shortAge(at: number, now: number): string {
  return age(at, now).replace(/^((?:in )?\d+ \S+) \d+ \S+/, "$1");
}

// duration reads an ISO 8601 duration and shows it for people: PT1H30M is 1 h 30 min.
export function duration(iso: string): string {
  const m = /^(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/.exec(iso);
  if (!m) return iso;
  const ms = ((Number(m[2] ?? 0) * 24 + Number(m[3] ?? 0)) * 60 + Number(m[4] ?? 0)) * 60_000 + Number(m[5] ?? 0) * 1000;
  if (ms >= 86400_000 * 365 * 1000) return "never";
  const sign = m[1] ? "\u2212" : "";
  return ms > 0 && ms < 1000 ? `${sign}${Math.round(ms)} ms` : sign + span(ms);
}

// zone is how times are shown everywhere.
export const zone = keptHere<"local" | "utc">("zone", "local");

const forms = new Map<string, Intl.DateTimeFormat>();

function form(utc: boolean, o: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = utc + JSON.stringify(o);
  let f = forms.get(key);
  if (!f) forms.set(key, (f = new Intl.DateTimeFormat("en-GB", { ...o, hour12: false, timeZone: utc ? "UTC" : undefined })));
  return f;
}

const day: Intl.DateTimeFormatOptions = { year: "numeric", month: "short", day: "numeric" };
const clock: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", second: "2-digit" };

// otherDay reports whether an instant is not of today.
export function otherDay(at: number, now: number): boolean {
  if (Number.isNaN(at)) return true;
  const f = form(zone.value === "utc", day);
  return f.format(at) !== f.format(now);
}

// time shows an instant: the time alone today, else with its day, and the year if it is another one.
export function time(at: number, now: number, millis = false): string {
  if (Number.isNaN(at)) return noTime;
  const utc = zone.value === "utc";
  const o = millis ? { ...clock, fractionalSecondDigits: 3 as const } : clock;
  if (!otherDay(at, now)) return form(utc, o).format(at);
  const year = form(utc, { year: "numeric" });
  const { year: _, ...inYear } = day;
  return form(utc, { ...(year.format(at) === year.format(now) ? inYear : day), ...o }).format(at);
}

// both shows an instant in local time and in UTC.
export function both(at: number): string {
  if (Number.isNaN(at)) return noTime;
  const o = { ...day, ...clock, fractionalSecondDigits: 3 as const };
  return `${form(false, { ...o, timeZoneName: "short" }).format(at)}\n${new Date(at).toISOString()}`;
}

// visible shows characters that have no shape, or that turn text around, as their codes. A name or a message must not look like another.
export function visible(s: string): string {
  return s.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g,
    (c) => (c === "\n" || c === "\t" ? c : `\u27e8${c.charCodeAt(0).toString(16).padStart(4, "0")}\u27e9`));
}
