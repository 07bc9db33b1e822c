import { Anchor, Button, Paper, Text, Title } from '@mantine/core';
import type { Contract, OutputOf } from '@sheaf/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Empty } from '../components/empty.tsx';
import { Foreign } from '../components/foreign.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Paged } from '../components/paged.tsx';
import { Time } from '../components/time.tsx';
import { service } from '../service.ts';
import { t } from '../text.ts';

type Mail = OutputOf<Contract['admin']['mails']['list']>['items'][number];

/** The mails of a deployment that sends none. */
export default function Mailbox() {
  const mails = useInfiniteQuery({
    queryKey: ['mails'],
    queryFn: ({ pageParam: offset, signal }) => service.admin.mails.list({ offset }, { signal }),
    initialPageParam: 0,
    getNextPageParam: ({ total }, pages) => {
      const shown = pages.reduce((sum, { items }) => sum + items.length, 0);
      return shown < total ? shown : undefined;
    },
  });
  const items = mails.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <>
      <PageHead title={t.nav.pages.mailbox}>
        <Button size="xs" variant="default" loading={mails.isFetching} onClick={() => void mails.refetch()}>
          {t.mailbox.refresh}
        </Button>
      </PageHead>
      <Text c="dimmed" mb="md">
        {t.mailbox.hint}
      </Text>
      <Paged query={mails} isEmpty={items.length === 0} empty={<Empty text={t.mailbox.empty} />}>
        {items.map((mail) => (
          <MailPaper key={mail.id} mail={mail} />
        ))}
      </Paged>
    </>
  );
}

function MailPaper({ mail: { to, subject, text, createdAt } }: { mail: Mail }) {
  return (
    <Paper withBorder p="md" mb="sm" component="article">
      <Title order={2} size="h5" className="foreign">
        {subject}
      </Title>
      <Foreign c="dimmed">
        {to} · <Time at={createdAt} />
      </Foreign>
      <Text mt="sm" className="foreign wraps">
        {text.split('\n').map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a mail never change.
          <Line key={index} text={line} />
        ))}
      </Text>
    </Paper>
  );
}

/** A line that is an address of this console is a link. Others may be quotes of strangers. */
function Line({ text }: { text: string }) {
  const isOwn = URL.parse(text)?.origin === window.location.origin;
  return (
    <>
      {isOwn ? (
        <Anchor href={text} underline="always">
          {text}
        </Anchor>
      ) : (
        text
      )}
      {'\n'}
    </>
  );
}
