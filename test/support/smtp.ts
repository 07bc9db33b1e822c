import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { findFreePorts } from '../../ops/local/ports.ts';

interface ReceivedMail {
  from: string;
  to: string[];
  /** Headers and body as they came. */
  raw: string;
  /** A header's value, unfolded. */
  header(name: string): string | undefined;
  /** The text of the mail, and the same as HTML. */
  body: string;
  html: string;
}

/** A mail server on a free port that keeps what it gets. */
export interface MailServer {
  url: string;
  port: number;
  mails: ReceivedMail[];
  /** What to answer to a recipient instead of taking the mail: an SMTP code. */
  refuseWith: number | undefined;
  /** While it is set, who connects hears nothing; it is called each time. */
  ignore: (() => void) | undefined;
  stop(): Promise<void>;
}

/** `host`: the address that it listens at, that of this machine alone by default. */
export async function startMailServer({ port, host = '127.0.0.1' }: { port?: number; host?: string } = {}): Promise<MailServer> {
  // No connection that goes out takes it while a test has stopped the server.
  const [free = 0] = await findFreePorts(1);
  const mails: ReceivedMail[] = [];
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onConnect(_session, callback) {
      if (!server.ignore) return callback();
      server.ignore();
    },
    onRcptTo(_address, _session, callback) {
      if (server.refuseWith === undefined) return callback();
      callback(Object.assign(new Error('not this one'), { responseCode: server.refuseWith }));
    },
    onData(stream, session, callback) {
      void text(stream).then((raw) => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push(
          parse(
            mailFrom ? mailFrom.address : '',
            rcptTo.map(({ address }) => address),
            raw,
          ),
        );
        callback();
      });
    },
  });
  smtp.on('error', () => {});
  await new Promise<void>((resolve) => smtp.listen(port ?? free, host, resolve));
  const bound = (smtp.server.address() as AddressInfo).port;
  const server: MailServer = {
    url: `smtp://${host}:${bound}`,
    port: bound,
    mails,
    refuseWith: undefined,
    ignore: undefined,
    stop: () => new Promise((resolve) => smtp.close(() => resolve())),
  };
  return server;
}

function parse(from: string, to: string[], raw: string): ReceivedMail {
  const [head = '', ...rest] = raw.split('\r\n\r\n');
  const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  const header = (name: string) =>
    lines
      .find((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`))
      ?.slice(name.length + 1)
      .trim();
  const boundary = /boundary="([^"]+)"/.exec(header('Content-Type') ?? '')?.[1];
  const parts = boundary === undefined ? [raw] : rest.join('\r\n\r\n').split(`--${boundary}`);
  const contentOf = (type: string) => decoded(parts.find((part) => part.includes(`Content-Type: ${type}`)) ?? '');
  return { from, to, raw, header, body: contentOf('text/plain'), html: contentOf('text/html') };
}

/** What follows the headers of a part, with its encoding undone. */
function decoded(part: string): string {
  const at = part.indexOf('\r\n\r\n');
  const [head, body] = [part.slice(0, at), part.slice(at + 4)];
  if (/^Content-Transfer-Encoding: base64/im.test(head)) return Buffer.from(body, 'base64').toString('utf8');
  return /^Content-Transfer-Encoding: quoted-printable/im.test(head) ? unquote(body) : body;
}

function unquote(body: string): string {
  const bytes = body.replace(/=\r\n/g, '').replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
