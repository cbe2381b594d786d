// Opens a report as a person would and tells, as JSON, what there was to see and what went wrong.
//   node walk.mjs chromium|firefox FILE whole|quick FOLDER-FOR-PICTURES|- [VIEW...]
// quick: each view once, in one theme, without axe.
import axe from "axe-core";
import puppeteer from "puppeteer-core";

const [name, file, how, folder, ...more] = process.argv.slice(2), pictures = folder === "-" ? "" : folder;
const PATHS = { chromium: "/usr/bin/chromium", firefox: "/usr/bin/firefox-esr" };
const told = { console: [], requests: [], errors: [], axe: [], views: {}, wide: [], marks: {}, elements: [], keyboard: [] };
// What the page is made of; anything else came from a machine.
const OURS = new Set("figure figcaption html head meta title style body div script main h1 h2 h3 p a b i br bdi code kbd span ul ol li table thead tbody tfoot tr th td caption section aside header nav footer button input select option optgroup label canvas svg g rect line text pre details summary article".split(" "));

const browser = await puppeteer.launch({
  browser: name === "firefox" ? "firefox" : "chrome",
  executablePath: PATHS[name],
  args: name === "firefox" ? [] : ["--no-sandbox", "--disable-gpu"],
});
const page = await browser.newPage();
await page.setViewport({ width: 1280, height: 860 });
page.on("console", m => told.console.push(`${m.type()}: ${m.text()}`));
page.on("pageerror", e => told.errors.push(String(e.message ?? e)));
page.on("request", r => { if (!r.url().startsWith("file:") && !r.url().startsWith("data:")) told.requests.push(r.url()); });

const wait = ms => new Promise(done => setTimeout(done, ms));
const until = async (what, ...given) => { for (let i = 0; i < 400; i++) { if (await page.evaluate(what, ...given)) return; await wait(50); } throw new Error(`waited in vain: ${what}`); };
const open = async hash => {
  await page.evaluate(h => { location.hash = h; }, `#/${hash}`);
  await wait(150);
  if (hash.startsWith("heat")) await until(() => document.querySelector("[role=status]")?.textContent !== "reading");
  if (hash.startsWith("host") || hash.includes("id=")) await wait(300);
};

await page.goto(`file://${file}`);
await until(() => performance.getEntriesByName("interactive").length > 0);
told.marks = await page.evaluate(() => Object.fromEntries([...performance.getEntriesByType("mark"), ...performance.getEntriesByType("paint")].map(m => [m.name, m.startTime])));

// Addresses: every view, and one host, switch, finding and column that are worth a look.
const links = await page.evaluate(() => [...document.querySelectorAll("header nav a")].map(a => a.getAttribute("href").slice(2)));
const found = [];
const collect = async (hash, pattern) => { await open(hash); const to = await page.evaluate(p => [...document.querySelectorAll("main a")].map(a => a.getAttribute("href")).find(h => h?.startsWith(p)) ?? null, pattern); if (to) found.push(to.slice(2)); };
await collect("findings?state=all", "#/findings?");
await collect("map", "#/switch/");
await collect("findings?state=all", "#/findings?");
await collect("heat?column=ceiling", "#/host/");
await open("findings?state=all");
const host = await page.evaluate(() => document.querySelector("table.list td.mono")?.textContent.split(":")[0] ?? null);
const addresses = [...new Set([...links, ...found, ...(host ? [`host/${encodeURIComponent(host)}`] : []), "heat?sort=odd", "nonsense", "host/nobody", ...more])];

const elements = new Set();
for (const theme of how === "whole" ? ["light", "dark"] : ["light"]) {
  await page.evaluate(t => { document.documentElement.dataset.theme = t; dispatchEvent(new Event("themechange")); }, theme);
  for (const address of addresses) {
    await open(address);
    if (theme === "light") told.views[address] = await page.evaluate(() => document.querySelector("main").innerText);
    for (const tag of await page.evaluate(() => [...document.querySelectorAll("*")].map(e => e.localName))) if (!OURS.has(tag)) elements.add(tag);
    if (pictures) await page.screenshot({ path: `${pictures}/${name}-${theme}-${address.replace(/[^a-z0-9]+/gi, "-").slice(0, 40) || "verdict"}.png` });
    if (how !== "whole") continue;
    await page.evaluate(axe.source);
    const result = await page.evaluate(async () => { const r = await window.axe.run(document); return r.violations.map(v => `${v.id}: ${v.nodes.map(n => n.html.slice(0, 120)).slice(0, 3).join(" | ")}`); });
    told.axe.push(...result.map(r => `${theme} ${address}: ${r}`));
  }
}

told.elements = [...elements];
told.ran = await page.evaluate(() => window.ran ?? null);

if (how === "whole") await atTwiceTheSize();
if (how === "whole") await byKeyboard();
await numbers();
process.stdout.write(JSON.stringify(told));
await browser.close();

// At 200 % nothing but drawings and tables of their own may be wider than the window.
async function atTwiceTheSize() {
  await page.setViewport({ width: 640, height: 430, deviceScaleFactor: 2 });
  for (const address of addresses) {
    await open(address);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 1) told.wide.push(`${address}: ${wide} px`);
  }
  await page.setViewport({ width: 1280, height: 860 });
}

// With the keyboard alone: through the navigation to the map, to a leaf, to a host; the finder.
async function byKeyboard() {
  await open("");
  await page.reload();
  await until(() => performance.getEntriesByName("interactive").length > 0);
  const focused = () => page.evaluate(() => { const e = document.activeElement; return `${e.tagName.toLowerCase()} ${e.getAttribute("aria-label") ?? e.textContent.slice(0, 40)}`; });
  for (let i = 0; i < 3; i++) {
    await page.keyboard.press("Tab"); told.keyboard.push(await focused());
  }
  await page.keyboard.press("Enter");
  await wait(400);
  told.keyboard.push(await page.evaluate(() => location.hash));
  for (let i = 0; i < 60 && !(await focused()).startsWith("canvas"); i++) await page.keyboard.press("Tab");
  told.keyboard.push(await focused());
  for (const key of ["ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
  await wait(100);
  told.keyboard.push(await page.evaluate(() => document.getElementById("mapnow")?.textContent ?? ""));
  await page.keyboard.press("Enter");
  await wait(300);
  told.keyboard.push(await page.evaluate(() => location.hash));
  await page.keyboard.press("/");
  await page.keyboard.type("pcie");
  await wait(100);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await wait(300);
  told.keyboard.push(await page.evaluate(() => location.hash));
}

// What the verdict shows as numbers, for a test to compare.
async function numbers() {
  await open("");
  told.verdict = await page.evaluate(() => ({
    headline: document.querySelector("h1").textContent,
    blocks: [...document.querySelectorAll("ol.first > li")].map(li => [li.querySelector("code").textContent, li.querySelector(".chip").textContent, li.querySelector(".cost").textContent]),
    pace: [...document.querySelectorAll("[aria-labelledby=pace] tbody tr")].map(tr => [tr.cells[0].textContent, tr.querySelector("b").textContent]),
  }));
  await open("map");
  told.rails = await page.evaluate(() => ({
    head: [...document.querySelectorAll("[aria-labelledby=rails] thead th")].map(c => c.textContent),
    rows: [...document.querySelectorAll("[aria-labelledby=rails] tbody tr")].map(tr => [...tr.cells].map(c => c.textContent)),
    moved: [...document.querySelectorAll("[aria-labelledby=rails] li code")].map(c => c.textContent),
  }));
  told.paths = [];
  await open("paths");
  const options = await page.evaluate(() => document.querySelectorAll("main select option").length);
  for (let i = 0; i < Math.min(options, 3); i++) {
    await open(`paths?path=${i}`);
    told.paths.push(await page.evaluate(() => [...document.querySelectorAll(".two > section")].map(s => ({ title: s.querySelector("h2").textContent, verdict: s.querySelector(".chip").textContent, hops: s.querySelectorAll(".hop").length, faults: s.querySelectorAll(".hop .bad").length }))));
  }
  // Ceilings of a few hosts, as the table of ports says them.
  told.ceilings = {};
  for (const name of addresses.filter(a => a.startsWith("host/")).map(a => a.slice(5))) {
    await open(`host/${name}`);
    told.ceilings[decodeURIComponent(name)] = await page.evaluate(() => [...document.querySelectorAll("[aria-label=Ports] tbody tr")].map(tr => [tr.cells[0].textContent, tr.cells[6].textContent]));
  }
  await open("coverage");
  told.coverage = await page.evaluate(() => [...document.querySelectorAll("table.list tbody tr")].map(tr => [...tr.cells].map(c => c.textContent)));
  await open("findings?state=all");
  told.findings = await page.evaluate(() => document.querySelector("[role=status]").textContent);
}
