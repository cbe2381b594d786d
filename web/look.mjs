// Pictures of views of a report, to look at: node look.mjs FILE FOLDER [HASH...]
import { chromium } from "playwright-core";
const [file, folder, ...hashes] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
page.on("console", m => console.log("console", m.type(), m.text()));
page.on("pageerror", e => console.log("error", e.message));
page.on("request", r => { if (!r.url().startsWith("file:")) console.log("request", r.url()); });
await page.goto(`file://${file}`);
await page.waitForFunction(() => performance.getEntriesByName("interactive").length > 0, null, { timeout: 20000 }).catch(e => console.log("not interactive", e.message));
for (const hash of hashes.length ? hashes : ["", "map", "heat", "findings", "paths", "coverage", "diff"]) {
  await page.evaluate(h => { location.hash = `#/${h}`; }, hash);
  await page.waitForTimeout(400);
  await page.screenshot({ path: `${folder}/${hash.replace(/[^a-z0-9]+/gi, "-") || "verdict"}.png` });
}
console.log(await page.evaluate(() => JSON.stringify(performance.getEntriesByType("mark").concat(performance.getEntriesByType("paint")).map(m => [m.name, Math.round(m.startTime)]))));
await browser.close();
