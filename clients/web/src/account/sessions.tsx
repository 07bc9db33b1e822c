import { Table, Text } from '@mantine/core';
import { SheafError } from '@sheaf/client';
import { useQuery } from '@tanstack/react-query';
import Bowser from 'bowser';
import { Loaded } from '../components/loaded.tsx';
import { RowMenu } from '../components/row-menu.tsx';
import { Rows } from '../components/rows.tsx';
import { TaskButton } from '../components/task-button.tsx';
import { TimeCell } from '../components/time.tsx';
import { sessionQuery } from '../queries.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';
import { Section } from './section.tsx';

const listSessions = () => ask(auth.listSessions());
type Session = Awaited<ReturnType<typeof listSessions>>[number];

export function Sessions() {
  const sessions = useQuery({ queryKey: ['sessions'], queryFn: listSessions });
  const isStale = sessions.error instanceof SheafError && sessions.error.code === 'SESSION_NOT_FRESH';
  return (
    <Section title={t.account.sessions}>
      <Text c="dimmed" mb="sm">
        {isStale ? t.account.notFresh : t.account.sessionsHint}
      </Text>
      {!isStale && <Loaded query={sessions}>{(items) => <SessionTable items={items} />}</Loaded>}
    </Section>
  );
}

function SessionTable({ items }: { items: Session[] }) {
  const { data: current } = useQuery(sessionQuery);
  return (
    <>
      <Rows heads={[t.account.device, t.account.address, t.account.lastUsed, { number: t.common.actions }]}>
        {items.map((session) => (
          <SessionRow key={session.id} session={session} isThis={session.id === current?.session.id} />
        ))}
      </Rows>
      {items.length > 1 && (
        <TaskButton task={() => ask(auth.revokeOtherSessions())} changes={['sessions']}>
          {t.account.endOthers}
        </TaskButton>
      )}
    </>
  );
}

function SessionRow({ session: { token, userAgent, ipAddress, updatedAt }, isThis }: { session: Session; isThis: boolean }) {
  const device = deviceOf(userAgent);
  return (
    <Table.Tr>
      <Table.Td className="foreign">{isThis ? `${device} (${t.account.thisOne})` : device}</Table.Td>
      <Table.Td className="foreign">{ipAddress && shorten(ipAddress)}</Table.Td>
      <TimeCell at={updatedAt} label={t.account.lastUsed} />
      <Table.Td className="number">
        <RowMenu
          name={device}
          changes={['sessions']}
          actions={[!isThis && { label: t.account.end, isDangerous: true, run: () => ask(auth.revokeSession({ token })) }]}
        />
      </Table.Td>
    </Table.Tr>
  );
}

/** An address as people write it. Of one of IPv6 only the network is kept, and that of the machine itself is nothing but zeros. */
function shorten(address: string): string {
  const url = `http://[${address}]`;
  if (!URL.canParse(url)) return address;
  const short = new URL(url).hostname.slice(1, -1);
  return short === '::' ? 'localhost' : short;
}

/** `Firefox, Linux`; what else a program says of itself is left as it is. */
function deviceOf(userAgent: string | null | undefined): string {
  if (!userAgent) return t.account.unknownDevice;
  const { browser, os } = Bowser.parse(userAgent);
  return browser.name && os.name ? `${browser.name}, ${os.name}` : userAgent.slice(0, 80);
}
