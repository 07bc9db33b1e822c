const frontMatter = /^---\n[\s\S]{0,4000}?\n---\n/;
const comments = /<!--[\s\S]*?-->/g;
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

/** Removes inline Markdown: emphasis, code marks, links and images keep their words. */
export function stripInline(line: string): string {
  return line
    .replace(/!\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\[\^[^\]]+\]/g, '')
    .replace(/\[([^\]]+)\](?:\([^)]*\)|\[[^\]]*\])/g, '$1')
    .replace(/<((?:https?|mailto):[^>\s]+)>/g, '$1')
    .replace(/<\/?[a-z][a-z0-9]*(?:\s[^<>]*)?\/?>/gi, '')
    .replace(/(?<![\p{L}\p{N}`])`+([^`]+)`+/gu, '$1')
    .replace(/(\*\*|__)(?=\S)(.+?)(?<=\S)\1/g, '$2')
    .replace(/(?<![\p{L}\p{N}*])\*(?=[^\s*])([^*]+?)(?<=\S)\*(?![\p{L}\p{N}*])/gu, '$1')
    .replace(/(?<![\p{L}\p{N}_])_(?=[^\s_])([^_]+?)(?<=\S)_(?![\p{L}\p{N}_])/gu, '$1')
    .replace(/~~(.+?)~~/g, '$1')
    .replace(/\\([\\`*_{}[\]()#+.!|-])/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
}
