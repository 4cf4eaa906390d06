// The icons of the navigation, drawn in the colour of the text.
const paths: Record<string, string> = {
  "": "M2.5 9.5h4v4h-4zM9.5 2.5h4v4h-4zM2.5 2.5h4v4h-4zM9.5 9.5h4v4h-4z",
  events: "M1.5 8h3l2-5 3 10 2-5h3",
  life: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.4 10.4l3.6 3.6",
  connections: "M5.5 10.5l5-5M6.5 4.5l1.2-1.2a3 3 0 0 1 4.2 0l.8.8a3 3 0 0 1 0 4.2L11.5 9.5M9.5 11.5l-1.2 1.2a3 3 0 0 1-4.2 0l-.8-.8a3 3 0 0 1 0-4.2L4.5 6.5",
  jobs: "M2.5 4h2M2.5 8h2M2.5 12h2M7 4h6.5M7 8h6.5M7 12h6.5",
  clock: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM8 4.8V8l2.2 1.6",
  faults: "M8 2.2l6 11H2zM8 6.2v3.2M8 11.2v.4",
  snapshots: "M2 5h2.8l1-1.5h4.4l1 1.5H14v8H2zM8 7a2.2 2.2 0 1 1 0 4.4A2.2 2.2 0 0 1 8 7z",
  configuration: "M2 4.5h5M11 4.5h3M2 11.5h3M9 11.5h5M9 2.8a1.7 1.7 0 1 1 0 3.4 1.7 1.7 0 0 1 0-3.4zM7 9.8a1.7 1.7 0 1 1 0 3.4 1.7 1.7 0 0 1 0-3.4z",
  connect: "M6 2v3M10 2v3M4.5 5h7v3a3.5 3.5 0 0 1-7 0zM8 11.5V14",
  resource: "M8 1.8l5.4 3.1v6.2L8 14.2l-5.4-3.1V4.9zM2.8 5L8 8l5.2-3M8 8v6",
  download: "M8 2.5v8M4.8 7.5L8 10.7l3.2-3.2M2.5 13.5h11",
  copy: "M5.5 5.5h8v8h-8zM3 10.5h-.5v-8h8V3",
  namespaces: "M8 2l6 3-6 3-6-3zM2 8l6 3 6-3M2 11l6 3 6-3",
};

export function Icon({ name }: { name: string }) {
  return <svg class="glyph" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d={paths[name] ?? paths[""]} /></svg>;
}
