// How long a report takes to be of use, in Chromium: node time.mjs FILE ROUNDS
import puppeteer from "puppeteer-core";

const [file, rounds] = process.argv.slice(2), told = [];
for (let round = 0; round < Number(rounds); round++) {
  const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 860 });
  const until = async (mark, after) => {
    for (let i = 0; i < 1200; i++) {
      const at = await page.evaluate(m => performance.getEntriesByName(m).at(-1)?.startTime ?? -1, mark);
      if (at > after) return at;
      await new Promise(done => setTimeout(done, 20));
    }
    throw new Error(`no ${mark}`);
  };
  await page.goto(`file://${file}`);
  const interactive = await until("interactive", 0);
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? -1);
  const view = async (hash, mark) => {
    const from = await page.evaluate(h => { location.hash = h; return performance.now(); }, hash);
    return await until(mark, from) - from;
  };
  const map = await view("#/map", "map");
  await view("#/heat?column=ceiling", "heat ceiling");
  const columns = await page.evaluate(() => [...document.querySelectorAll("optgroup[label='Port counters'] option")].map(o => o.value));
  const column = columns.length ? await view(`#/heat?column=${columns[0]}`, `heat ${columns[0]}`) : null;
  told.push({ paint, interactive, map, column });
  await browser.close();
}
process.stdout.write(JSON.stringify(told));
