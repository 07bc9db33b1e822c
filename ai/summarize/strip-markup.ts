const frontMatter = /^---\n[\s\S]{0,4000}?\n---\n/;
const comments = /<!--[\s\S]{0,2000}?-->/g;
// Tags that people write into Markdown; anything else in angle brackets is a placeholder and stays.
const htmlTag =
  /<\/?(?:a|abbr|b|br|center|code|details|div|em|font|h[1-6]|hr|i|img|kbd|li|ol|p|pre|s|small|span|strong|sub|summary|sup|t[dhr]|table|tbody|thead|u|ul)(?:\s[^<>]{0,1000})?\/?>/gi;
const fence = /^\s*(```|~~~)/;

/** Removes Markdown blocks that are no prose: front matter, comments, fenced code. Text without Markdown stays as it is. */
export function dropCode(text: string): string {
  const lines: string[] = [];
  let open: string | undefined;
  for (const line of text.replace(frontMatter, '').replace(comments, '').split('\n')) {
    const mark = fence.exec(line)?.[1];
    if (mark === undefined && open === undefined) lines.push(line);
    if (mark === undefined || (open !== undefined && mark !== open)) continue;
    open = open === undefined ? mark : undefined;
  }
  return lines.join('\n');
}

/**
 * Removes inline Markdown: emphasis, code marks, links and images keep their words. Every repetition is bounded, so that a text of
 * nothing but opening marks takes no longer than another.
 */
export function stripInline(line: string): string {
  return line
    .replace(/!\[([^\]]{0,300})\]\([^)]{0,1000}\)/g, '$1')
    .replace(/\[\^[^\]]{1,100}\]/g, '')
    .replace(/\[([^\]]{1,300})\](?:\([^)]{0,1000}\)|\[[^\]]{0,300}\])/g, '$1')
    .replace(/<((?:https?|mailto):[^>\s]{1,1000})>/g, '$1')
    .replace(htmlTag, '')
    .replace(/(?<![\p{L}\p{N}`])`{1,3}([^`]{1,300})`{1,3}/gu, '$1')
    .replace(/(\*\*|__)(?=\S)(.{1,300}?)(?<=\S)\1/g, '$2')
    .replace(/(?<![\p{L}\p{N}*])\*(?=[^\s*])([^*]{1,300}?)(?<=\S)\*(?![\p{L}\p{N}*])/gu, '$1')
    .replace(/(?<![\p{L}\p{N}_])_(?=[^\s_])([^_]{1,300}?)(?<=\S)_(?![\p{L}\p{N}_])/gu, '$1')
    .replace(/~~(.{1,300}?)~~/g, '$1')
    .replace(/\\([\\`*_{}[\]()#+.!|-])/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
}
