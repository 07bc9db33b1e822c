/** What some system does not take in the name of a file, or takes for something else. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to go.
const unsafe = /[\u0000-\u001f\u007f-\u009f<>:"\\|?*]/g;
/** Names of devices on Windows, whatever their extension. */
const devices = /^(con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;
const longestBytes = 200;

/** A path within a folder for the name of a document, which may contain `/`: never outside of the folder, and valid on every system. */
export function safePath(name: string): string {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  return parts.map(safeName).join('/') || '_';
}

function safeName(part: string): string {
  const safe = part
    .replace(unsafe, '_')
    .replace(/^\.+/, (dots) => '_'.repeat(dots.length))
    .replace(/(?<![. ])[. ]+$/, (end) => '_'.repeat(end.length))
    .replace(devices, '_$&');
  return shorten(safe);
}

/** Cuts a name in front of its extension, between characters. */
function shorten(name: string): string {
  if (Buffer.byteLength(name) <= longestBytes) return name;
  const extension = /\.\w{1,10}$/.exec(name)?.[0] ?? '';
  const characters = Array.from(name.slice(0, name.length - extension.length));
  while (Buffer.byteLength(characters.join('')) > longestBytes - extension.length) characters.pop();
  return `${characters.join('')}${extension}`;
}
