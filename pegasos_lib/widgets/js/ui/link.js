import { button } from "./controls.js";
import { h, KEYS } from "./dom.js";

// A link holds what differs from the page's own state: #figure=pegasos&lam=0.01&X=1.5,2;0,-1 .
// The second figure of a kind on a page is pegasos.2 .

function nameOf({ el, kind }) {
  const all = [...document.querySelectorAll(`.pegasos-figure[data-figure="${kind}"]`)];
  const at = all.indexOf(el);
  return at > 0 ? `${kind}.${at + 1}` : kind;
}

function encode(value) {
  if (!Array.isArray(value)) return typeof value === "object" ? JSON.stringify(value) : String(value);
  if (value.every(Array.isArray)) return value.map((row) => row.join(",")).join(";");
  return value.every((item) => typeof item !== "object") ? value.join(",") : JSON.stringify(value);
}

function decode(text, like) {
  if (typeof like === "number") return Number(text);
  if (typeof like === "boolean") return text === "true";
  if (typeof like === "string") return text;
  if (text.startsWith("[{") || text.startsWith("{")) return JSON.parse(text);
  if (text === "") return [];
  if (Array.isArray(like[0])) return text.split(";").map((row) => row.split(",").map(Number));
  if (text === "[]") return [];
  return typeof like[0] === "string" ? text.split(",") : text.split(",").map(Number);
}

/** The fragment that restores the state of `fig`. */
export function hashOf(fig) {
  const parameters = new URLSearchParams({ figure: nameOf(fig) });
  for (const [key, value] of Object.entries(fig.state())) {
    const text = encode(value);
    if (text !== encode(fig.initial[key])) parameters.set(key, text);
  }
  return `#${parameters.toString().replaceAll("%2C", ",").replaceAll("%3B", ";")}`;
}

/** The keys that the page's address gives for `fig`, or null when it names another figure or none. */
export function stateFromHash(fig) {
  const parameters = new URLSearchParams(location.hash.slice(1));
  if (parameters.get("figure") !== nameOf(fig)) return null;
  const state = {};
  for (const [key, like] of Object.entries(fig.initial)) {
    if (!parameters.has(key)) continue;
    try {
      state[key] = decode(parameters.get(key), like);
    } catch {
      // A key that cannot be read keeps what the page says.
    }
  }
  return state;
}

const python = (value) => {
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    return `{${Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${python(item)}`).join(", ")}}`;
  }
  return JSON.stringify(value);
};

// Keys whose default in Python hangs on one another: the call gives all of them, or none.
const TOGETHER = [["X", "y"], ["function", "start"]];

function call(fig) {
  const name = `${fig.kind[0].toUpperCase()}${fig.kind.slice(1)}Explorer`;
  const differs = (key) => encode(fig.get(key)) !== encode(fig.defaults[key]);
  const changed = Object.entries(fig.state()).filter(([key]) =>
    (TOGETHER.find((keys) => keys.includes(key)) ?? [key]).some(differs));
  const given = changed.map(([key, value]) => `${key}=${python(value)}`);
  return `${name}(${[...fig.firstArguments, ...given].join(", ")})`;
}

/** "Copy link": on a page the address that restores the state, in a notebook the call that does. */
export function linkButton(fig) {
  const page = fig.model.standalone;
  const what = page ? "link" : "call";
  const field = h("input", { class: "pf-link", type: "text", readonly: true, hidden: true, ...KEYS,
    "aria-label": page ? "Link to this state" : "Python call that gives this state" });
  const said = h("span", { class: "pf-said", role: "status" });
  const copy = async () => {
    if (page) {
      const address = `${location.href.split("#")[0]}${hashOf(fig)}`;
      history.replaceState(null, "", address);
      field.value = address;
    } else field.value = call(fig);
    field.hidden = false;
    field.focus();
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      said.textContent = `The ${what} is copied.`;
    } catch {
      said.textContent = `Copy the ${what} from the field.`;
    }
  };
  const title = page ? "A link that opens the page with this state" : "The Python call that gives this state";
  return h("span", { class: "pf-linkbox" }, button(fig, { label: `Copy ${what}`, title, onClick: copy }), field, said);
}
