// The minimal server for an upload: Node's http piped to a file.
import { createWriteStream } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

const [directory = '', port = '0'] = process.argv.slice(2);
let uploads = 0;
createServer(async (req, res) => {
  await pipeline(req, createWriteStream(join(directory, `bare-${++uploads}`)));
  res.end('{}');
}).listen(Number(port), '127.0.0.1');
