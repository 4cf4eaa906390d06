// Durations as people type them, and as settings have them: 30s, 5m, 1h 30m, 14 days, 00:05:00, P14D, never.

// forever is the longest duration of settings, which means that nothing ends.
export const forever = "P10675199DT2H48M5.4775807S";

const units: [RegExp, number][] = [
  [/^(ms|milliseconds?)$/, 1], [/^(s|secs?|seconds?)$/, 1000], [/^(m|mins?|minutes?)$/, 60_000], [/^(h|hrs?|hours?)$/, 3_600_000], [/^(d|days?)$/, 86_400_000], [/^(w|weeks?)$/, 604_800_000],
];

const form = "Write a duration such as 30s, 5m, 1h 30m, 14d or P14D";

// isoOf returns a duration in the form of ISO 8601. It throws if the text is none.
export function isoOf(text: string): string {
  const t = text.trim().toLowerCase();
  if (/^(never|for ?ever)$/.test(t)) return forever;
  if (t.startsWith("p")) {
    if (!/^p(?=.)(\d+d)?(t(?=.)(\d+h)?(\d+m)?(\d+(\.\d{1,7})?s)?)?$/.test(t)) throw new Error(`${form}. ISO 8601 has days, hours, minutes and seconds here, such as P1DT12H.`);
    return t.toUpperCase();
  }
  const clock = /^(?:(\d+)\.)?(\d{1,2}):(\d{2}):(\d{2}(?:\.\d{1,3})?)$/.exec(t);
  if (clock) return written(((Number(clock[1] ?? 0) * 24 + Number(clock[2])) * 60 + Number(clock[3])) * 60_000 + Math.round(Number(clock[4]) * 1000));
  if (/^\d+(\.\d+)?$/.test(t)) throw new Error(`The unit is missing. Write ${t}s, ${t}m, ${t}h or ${t}d.`);
  let ms = 0, rest = t;
  do {
    const m = /^(\d+(?:\.\d+)?)\s*([a-z]+)[\s,]*/.exec(rest), unit = m && units.find(([name]) => name.test(m[2]!));
    if (!m || !unit) throw new Error(`${form}.`);
    ms += Number(m[1]) * unit[1];
    rest = rest.slice(m[0].length);
  } while (rest);
  return written(Math.round(ms));
}

// msOf reads a duration in ms. It throws if the text is none.
export function msOf(text: string): number {
  const [, d, h, m, s] = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(isoOf(text))!;
  return ((Number(d ?? 0) * 24 + Number(h ?? 0)) * 60 + Number(m ?? 0)) * 60_000 + Number(s ?? 0) * 1000;
}

const parts = (ms: number) => [Math.floor(ms / 86_400_000), Math.floor(ms / 3_600_000) % 24, Math.floor(ms / 60_000) % 60, (ms % 60_000) / 1000] as const;

function written(ms: number): string {
  const [d, h, m, s] = parts(ms);
  const day = d ? `${d}D` : "", time = (h ? `${h}H` : "") + (m ? `${m}M` : "") + (s || !(d || h || m) ? `${s}S` : "");
  return `P${day}${time && "T" + time}`;
}

// typedDuration returns the text that a person would type for a duration of ISO 8601: PT1H30M is 1h 30m.
export function typedDuration(iso: string): string {
  const m = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(iso);
  if (!m) return iso;
  if (Number(m[1] ?? 0) >= 10_000_000) return "never";
  const shown = [["d", m[1]], ["h", m[2]], ["m", m[3]], ["s", m[4]]].filter(([, n]) => n !== undefined && Number(n) > 0).map(([unit, n]) => n! + unit!);
  return shown.join(" ") || "0s";
}
