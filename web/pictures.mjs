// The pictures of README and docs: node pictures.mjs FILE FOLDER write|compare
// compare tells which share of the pixels of each picture is another than in FOLDER.
import fs from "node:fs";
import puppeteer from "puppeteer-core";

const [file, folder, how] = process.argv.slice(2);
const PICTURES = { "report": "", "report-map": "map", "report-host": "host/ember-h007", "report-heat": "heat?column=ceiling" };
const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"] });
const page = await browser.newPage(), told = {};
await page.setViewport({ width: 1280, height: 760 });
await page.goto(`file://${file}`);
for (let i = 0; i < 200 && !(await page.evaluate(() => performance.getEntriesByName("interactive").length)); i++) await new Promise(done => setTimeout(done, 50));

const judge = how === "compare" ? await browser.newPage() : null; // a page in the background is not drawn
const difference = (a, b) => judge.evaluate(async (one, other) => {
  const pixels = async data => {
    const img = new Image();
    img.src = `data:image/webp;base64,${data}`;
    await img.decode();
    const c = Object.assign(document.createElement("canvas"), { width: img.width, height: img.height });
    c.getContext("2d").drawImage(img, 0, 0);
    return c.getContext("2d").getImageData(0, 0, img.width, img.height).data;
  };
  const [p, q] = [await pixels(one), await pixels(other)];
  if (p.length !== q.length) return 1;
  let off = 0;
  for (let i = 0; i < p.length; i += 4) if (Math.abs(p[i] - q[i]) + Math.abs(p[i + 1] - q[i + 1]) + Math.abs(p[i + 2] - q[i + 2]) > 96) off++;
  return off / (p.length / 4);
}, a, b);

for (const theme of ["light", "dark"]) {
  await page.evaluate(t => { document.documentElement.dataset.theme = t; dispatchEvent(new Event("themechange")); }, theme);
  for (const [name, hash] of Object.entries(PICTURES)) {
    if (theme === "dark" && name !== "report") continue;
    await page.bringToFront();
    await page.evaluate(h => { location.hash = h; }, `#/${hash}`);
    await new Promise(done => setTimeout(done, 700));
    const target = `${folder}/${name}${theme === "dark" ? "-dark" : ""}.webp`, shot = Buffer.from(await page.screenshot({ type: "webp", quality: 88 }));
    if (how === "write") fs.writeFileSync(target, shot);
    else told[name + (theme === "dark" ? "-dark" : "")] = await difference(shot.toString("base64"), fs.readFileSync(target).toString("base64"));
  }
}
process.stdout.write(JSON.stringify(told));
await browser.close();
