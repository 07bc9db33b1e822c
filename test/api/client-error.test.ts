import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { refuseClientErrors } from '../../api/http/errors.ts';

describe('A request that does not come to its end in time', () => {
  let server: Server;
  before(async () => {
    server = createServer({ headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 20 }, (_req, res) => res.end());
    refuseClientErrors(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => server.close());

  for (const [part, bytes] of [
    ['headers', 'POST / HTTP/1.1\r\nHost: a\r\n'],
    ['body', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf'],
  ] as const) {
    it(`is closed, without an error of a code that its status does not have: its ${part}`, async () => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      socket.write(bytes);
      const answer = await text(socket);
      expect(answer).to.not.include('BAD_REQUEST').and.not.include(' 408 ');
      expect(socket.destroyed || socket.readableEnded).to.equal(true);
    });
  }
});
