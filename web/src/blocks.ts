// Blocks of data that stand deflated in the file, inflated when a view asks for them.
export const decoder = new TextDecoder();
const kept = new Map<string, Promise<Uint8Array>>();

function bytes(text: string): Uint8Array {
  const quick = (Uint8Array as unknown as { fromBase64?: (t: string) => Uint8Array }).fromBase64;
  if (quick) return quick(text);
  const raw = atob(text), out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

async function read(id: string): Promise<Uint8Array> {
  const text = document.getElementById("d:" + id)?.textContent;
  if (text === null || text === undefined) throw new Error(`no block ${id}`);
  const stream = new Blob([bytes(text) as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export function inflate(id: string): Promise<Uint8Array> {
  let found = kept.get(id);
  if (!found) kept.set(id, found = read(id));
  return found;
}

// The high bytes of all codes come first, then the lower ones (report/page/encode.py).
export async function numbers(id: string, width: number): Promise<Uint32Array> {
  const data = await inflate(id), count = data.length / width, out = new Uint32Array(count);
  for (let plane = 0; plane < width; plane++) {
    const from = plane * count;
    for (let i = 0; i < count; i++) out[i] = (out[i] << 8) | data[from + i];
  }
  return out;
}
