import { tokenizeHtml } from './tokenize-html.ts';

const hasFields = /<(?:input|select|textarea)\b/i;
/** Types of fields that show no value. What a button shows is its label. */
const withoutValue = new Set(['hidden', 'password', 'submit', 'reset', 'button', 'image', 'file', 'color', 'range']);
const displayNone = /display\s*:\s*none/i;

interface Option {
  label: string | undefined;
  text: string;
  isChosen: boolean;
  isDisabled: boolean;
  /** It only asks for a choice. */
  isPlaceholder: boolean;
}

/** A field that is open, from its tag on. */
interface OpenField {
  name: 'select' | 'textarea';
  start: number;
  attributes: Attributes;
  text: string;
  options: Option[];
}

type Attributes = Record<string, string>;

/**
 * Writes into a page what a browser shows in the fields of its forms, in place of these: values, chosen options, and boxes as `[x]` and
 * `[ ]`. Those that are hidden or hold a password show nothing.
 */
export function writeFields(html: string): string {
  if (!hasFields.test(html)) return html;
  const pieces: string[] = [];
  let passed = 0;
  let [name, start, attributes]: [string, number, Attributes] = ['', 0, {}];
  let [attribute, value] = ['', ''];
  let open: OpenField | undefined;
  const replace = (from: number, to: number, shown: string) => {
    pieces.push(html.slice(passed, from), ` ${shown.replaceAll('<', '&lt;').replace(/\r\n?|\n/g, '<br>')} `);
    passed = to;
  };
  const onText = (text: string) => {
    const option = open?.options.at(-1);
    if (option) option.text += text;
    else if (open) open.text += text;
  };
  const onTag = (end: number, isSelfClosed: boolean) => {
    if (name === 'option') open?.options.push(toOption(attributes));
    if (name !== 'input' && name !== 'select' && name !== 'textarea') return;
    // No list holds another field. Nobody knows where this one should have ended: it shows nothing, and what stands behind it stays.
    if (open) {
      pieces.push(html.slice(passed, start), `</${open.name}>`);
      [passed, open] = [start, undefined];
    }
    if (name === 'input') replace(start, end, showInput(attributes));
    // In XHTML it is empty.
    else if (isSelfClosed) replace(start, end, '');
    else open = { name, start, attributes, text: '', options: [] };
  };
  tokenizeHtml(html, {
    onopentagname(from, to) {
      [name, start, attributes] = [html.slice(from, to).toLowerCase(), from - 1, {}];
    },
    onattribname(from, to) {
      [attribute, value] = [html.slice(from, to).toLowerCase(), ''];
    },
    onattribdata(from, to) {
      value += html.slice(from, to);
    },
    onattribentity(codepoint) {
      value += String.fromCodePoint(codepoint);
    },
    onattribend() {
      // The first of a name counts.
      attributes[attribute] ??= value;
    },
    onopentagend: (end) => onTag(end + 1, false),
    onselfclosingtag: (end) => onTag(end + 1, true),
    ontext: (from, to) => onText(html.slice(from, to)),
    ontextentity: (codepoint) => onText(String.fromCodePoint(codepoint)),
    onclosetag(from, to) {
      if (!open || html.slice(from, to).toLowerCase() !== open.name) return;
      replace(open.start, html.indexOf('>', to) + 1 || html.length, showOpen(open));
      open = undefined;
    },
    onend() {
      // One that has no end takes all that follows as its text.
      if (open?.name === 'textarea') replace(open.start, html.length, showOpen(open));
    },
  });
  return pieces.join('') + html.slice(passed);
}

function showInput(attributes: Attributes): string {
  const type = (attributes.type ?? 'text').trim().toLowerCase();
  if (isHidden(attributes) || withoutValue.has(type)) return '';
  if (type === 'checkbox' || type === 'radio') return 'checked' in attributes ? '[x]' : '[ ]';
  return escapeSigns(attributes.value ?? '');
}

/** The text of a field, or the options that are chosen: that of a list that folds out is the first to choose, unless another is named. */
function showOpen({ name, attributes, text, options }: OpenField): string {
  if (isHidden(attributes)) return '';
  // The tokenizer decodes no entities in it.
  if (name === 'textarea') return text.trim();
  const foldsOut = !('multiple' in attributes) && !(Number(attributes.size) > 1);
  const named = options.filter(({ isChosen }) => isChosen);
  const chosen = foldsOut ? [named.at(-1) ?? options.find(({ isDisabled }) => !isDisabled)] : named;
  return escapeSigns(chosen.flatMap((option) => (option && !option.isPlaceholder ? [showOption(option)] : [])).join(', '));
}

function showOption({ label, text }: Option): string {
  return (label || text).replace(/\s+/g, ' ').trim();
}

function toOption(attributes: Attributes): Option {
  return {
    label: attributes.label,
    text: '',
    isChosen: 'selected' in attributes,
    isDisabled: 'disabled' in attributes,
    isPlaceholder: attributes.value === '',
  };
}

function isHidden({ style = '', ...attributes }: Attributes): boolean {
  return 'hidden' in attributes || attributes['aria-hidden'] === 'true' || displayNone.test(style);
}

function escapeSigns(text: string): string {
  return text.replaceAll('&', '&amp;');
}
