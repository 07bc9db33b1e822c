import { escapeHtml } from '../../base/text/escape-html.ts';

/** How the mails of a deployment look. */
export interface MailStyle {
  /** The deployment's name, above each mail and below its text. */
  name: string;
  /** The origins whose links become buttons. Other links stay text: a mail may quote strangers. */
  origins: string[];
}

const button = 'display:inline-block;padding:10px 20px;border-radius:6px;background:#1c5d99;color:#ffffff;text-decoration:none';

/** The text of a mail with the deployment's name as its signature. */
export function signText(text: string, { name }: Pick<MailStyle, 'name'>): string {
  return `${text.trimEnd()}\n\n-- \n${name}\n`;
}

/** A mail's text as HTML: its paragraphs, and a link of the deployment that stands alone as a button that is named by the subject. */
export function toHtml({ subject, text }: { subject: string; text: string }, { name, origins }: MailStyle): string {
  const paragraphs = text.trim().split(/\n{2,}/);
  const parts = paragraphs.map((each) =>
    isLink(each, origins) ? linkPart(each, subject) : `<p>${escapeHtml(each).replaceAll('\n', '<br>')}</p>`,
  );
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>${escapeHtml(subject)}</title></head>
<body style="margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif">
<div style="max-width:560px;margin:0 auto;overflow-wrap:anywhere">
<p style="font-weight:600">${escapeHtml(name)}</p>
${parts.join('\n')}
</div>
</body>
</html>
`;
}

function linkPart(url: string, label: string): string {
  const href = escapeHtml(url);
  return `<p><a href="${href}" style="${button}">${escapeHtml(label)}</a></p>
<p style="font-size:13px">The address behind it: <a href="${href}">${href}</a></p>`;
}

function isLink(paragraph: string, origins: string[]): boolean {
  return /^https?:\/\/\S+$/.test(paragraph) && origins.includes(URL.parse(paragraph)?.origin ?? '');
}
