import { Tokenizer } from 'htmlparser2';

const hidden = new Set('script style noscript template svg iframe object select textarea button'.split(' '));
const inline = new Set(
  'a abbr b bdi bdo big cite code data del dfn em font i img ins kbd label mark q s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
);
// Elements without content, and elements that the next one closes: they nest only by way of others.
const flat = new Set(
  `area base br col embed hr img input link meta param source track wbr p li dt dd tr td th tbody thead tfoot option optgroup colgroup
rt rp html head body`.split(/\s+/),
);

/** What one pass over HTML finds without building a tree. */
export interface HtmlScan {
  /** How deep its elements are nested; an element that is never closed counts for all that follows. */
  depth: number;
  /** Its visible text, block by block, without lists and tables laid out. */
  text: string;
}

/** Scans HTML in linear time and constant stack, whatever its nesting: a parser keeps a stack of open elements, a tokenizer does not. */
export function scanHtml(html: string): HtmlScan {
  const parts: string[] = [];
  let depth = 0;
  let deepest = 0;
  let hiddenDepth = 0;
  const onTag = (start: number, end: number, step: 1 | -1) => {
    const name = html.slice(start, end).toLowerCase();
    if (!flat.has(name)) depth = Math.max(0, depth + step);
    deepest = Math.max(deepest, depth);
    if (hidden.has(name)) hiddenDepth = Math.max(0, hiddenDepth + step);
    if (!inline.has(name)) parts.push('\n');
  };
  const nothing = () => {};
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      onopentagname: (start, end) => onTag(start, end, 1),
      onclosetag: (start, end) => onTag(start, end, -1),
      ontext: (start, end) => {
        if (hiddenDepth === 0) parts.push(html.slice(start, end).replace(/\s+/g, ' '));
      },
      ontextentity: (codepoint) => {
        if (hiddenDepth === 0) parts.push(String.fromCodePoint(codepoint));
      },
      onselfclosingtag: nothing,
      onopentagend: nothing,
      onattribdata: nothing,
      onattribentity: nothing,
      onattribend: nothing,
      onattribname: nothing,
      oncdata: nothing,
      oncomment: nothing,
      ondeclaration: nothing,
      onprocessinginstruction: nothing,
      onend: nothing,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  return {
    depth: deepest,
    text: parts
      .join('')
      .replace(/(?<! ) *\n[ \n]*/g, '\n')
      .trim(),
  };
}
