// The minimal live stream: each notification of Postgres is written to every open response.
import { createServer, type ServerResponse } from 'node:http';
import pg from 'pg';

const [url = '', port = '0'] = process.argv.slice(2);
const open = new Set<ServerResponse>();
const client = new pg.Client({ connectionString: url });
await client.connect();
client.on('notification', ({ payload = '' }) => {
  const event = `data: {"id":"${payload.split(/[^\w-]/).at(-1)}"}\n\n`;
  for (const res of open) res.write(event);
});
await client.query('listen job_changed');
createServer((_req, res) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  open.add(res);
  res.on('close', () => open.delete(res));
}).listen(Number(port), '127.0.0.1');
