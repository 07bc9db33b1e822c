import dgram from 'node:dgram';
import dns from 'node:dns';
import net from 'node:net';

/**
 * Refuses sockets and names to the code of this process, for machines without network namespaces: Node's own permissions know no
 * network yet. Call it before anything else is loaded.
 */
export function closeNetwork(): void {
  const refuse = () => {
    throw Object.assign(new Error('A reader of documents has no network.'), { code: 'ERR_ACCESS_DENIED' });
  };
  net.Socket.prototype.connect = refuse;
  net.Server.prototype.listen = refuse;
  dgram.createSocket = refuse;
  dgram.Socket.prototype.bind = refuse;
  dgram.Socket.prototype.send = refuse;
  for (const holder of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype]) {
    const asking = Object.getOwnPropertyNames(holder).filter((name) => /^(lookup|resolve|reverse)/.test(name));
    Object.assign(holder, Object.fromEntries(asking.map((name) => [name, refuse])));
  }
}
