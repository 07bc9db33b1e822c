/** Elements that a browser does not show. */
export const hidden = split('script style noscript template datalist');

/** Elements that a browser shows as something other than text, between the words on both sides. */
export const widgets = split('iframe object select textarea button');

/** What a browser shows of a drawing: its texts, and pages within it. */
export const drawn = new Set(split('text foreignobject'));
/** What it does not show: the parts that others are made of, and titles. */
export const undrawn = new Set(split('defs symbol title desc metadata style script clippath mask pattern marker'));

/** How Chinese and Japanese words are read. They stand above a word, and would part its signs. */
export const readings = split('rt rp rtc');

/** Elements that begin and end paragraphs, and those that only begin and end lines, of those that html-to-text takes for a part of a line. */
export const paragraphs = split('details dl fieldset figure');
export const lines = split(
  `address audio caption center dd dt figcaption hgroup legend listing optgroup option plaintext search summary tbody td tfoot th thead tr
video xmp`,
);

/** Lists with points, besides `ul`. */
export const lists = split('dir menu');

/** Elements on a line of their own, which separate the words before and after them. All others are part of a line. */
export const breaking = new Set([
  ...paragraphs,
  ...lines,
  ...lists,
  ...split(
    `article aside blockquote body br dialog div footer form h1 h2 h3 h4 h5 h6 head header hr html li main nav ol p pre section table title ul`,
  ),
  ...widgets,
  'svg',
]);

/** Void elements, and elements that the next one closes: they nest only inside of others. */
export const flat = new Set(
  split(`area base br col embed hr img input link meta param source track wbr p li dt dd tr td th tbody thead tfoot option optgroup colgroup
rt rp html head body`),
);

function split(names: string): string[] {
  return names.split(/\s+/);
}
