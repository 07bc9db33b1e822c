import { CloseButton, Group, Paper, SimpleGrid, Text, Title } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import IconCircle from '@tabler/icons-react/icons/IconCircle';
import IconCircleCheckFilled from '@tabler/icons-react/icons/IconCircleCheckFilled';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { invitationsQuery, membersQuery } from '../member-queries.ts';
import { apiKeysQuery, type Place, slugsOf, usageHistoryQuery } from '../queries.ts';
import { t } from '../text.ts';
import { LinkTo } from './link-to.tsx';

/** As far back as the service tells what was asked. */
const newMs = 31 * 86_400_000;

/** What a new organization does first. Each step ticks itself; with the last one, or when they are closed, they are gone. */
export function FirstSteps({ place, hasDocuments }: { place: Place; hasDocuments: boolean }) {
  const { organization, isAdmin } = place;
  const [isClosed, setIsClosed] = useLocalStorage({
    key: `first-steps-${organization.id}`,
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  const enabled = isAdmin && !isClosed && Date.now() - Date.parse(String(organization.createdAt)) < newMs;
  const history = useQuery({ ...usageHistoryQuery(organization.id), staleTime: 0, enabled });
  const members = useInfiniteQuery({ ...membersQuery(organization.id), enabled });
  const invitations = useQuery({ ...invitationsQuery(organization.id), enabled });
  const keys = useQuery({ ...apiKeysQuery(organization.id), enabled });
  if (!enabled || !history.data || !members.data || !invitations.data || !keys.data) return null;
  const hasAsked = history.data.items.some(({ group }) => group === 'documents.ask');
  const hasOthers = (members.data.pages[0]?.total ?? 0) > 1 || invitations.data.length > 0 || keys.data.length > 0;
  if (hasDocuments && hasAsked && hasOthers) return null;
  const params = slugsOf(place);
  return (
    <Paper withBorder p="md" mb="lg" component="section" aria-label={t.steps.title}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          {t.steps.title}
        </Title>
        <CloseButton aria-label={t.steps.close} onClick={() => setIsClosed(true)} />
      </Group>
      <SimpleGrid component="ol" className="plain-list" cols={{ base: 1, sm: 3 }}>
        <Step isDone={hasDocuments} title={t.steps.upload}>
          {t.steps.uploadHint}
        </Step>
        <Step isDone={hasAsked} title={t.steps.ask}>
          <LinkTo to="/o/$organization/$workspace/ask" params={params} size="sm">
            {t.steps.askHint}
          </LinkTo>
        </Step>
        <Step isDone={hasOthers} title={t.steps.share}>
          <LinkTo to="/o/$organization/$workspace/members" params={params} size="sm">
            {t.steps.invite}
          </LinkTo>
          {' · '}
          <LinkTo to="/o/$organization/$workspace/api-keys" params={params} size="sm">
            {t.steps.key}
          </LinkTo>
        </Step>
      </SimpleGrid>
    </Paper>
  );
}

function Step({ isDone, title, children }: { isDone: boolean; title: string; children: ReactNode }) {
  const Icon = isDone ? IconCircleCheckFilled : IconCircle;
  return (
    <Group component="li" gap="xs" wrap="nowrap" align="flex-start" className="step" data-done={isDone}>
      <Icon size={20} role="img" aria-label={isDone ? t.steps.done : t.steps.open} className="keep" />
      <div>
        <Text fw={550}>{title}</Text>
        {!isDone && <Text c="dimmed">{children}</Text>}
      </div>
    </Group>
  );
}
