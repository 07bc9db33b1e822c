import { Button, Group, Stack, Table, Text, Title } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Confirm } from '../components/confirm.tsx';
import { Empty } from '../components/empty.tsx';
import { EndpointState } from '../components/endpoint-state.tsx';
import { Failure } from '../components/failure.tsx';
import { Filter } from '../components/filter.tsx';
import { Foreign } from '../components/foreign.tsx';
import { Loaded } from '../components/loaded.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Paged } from '../components/paged.tsx';
import { RowMenu } from '../components/row-menu.tsx';
import { Rows } from '../components/rows.tsx';
import { Secret } from '../components/secret.tsx';
import { StateMark } from '../components/state-mark.tsx';
import { NextAttempt, TimeCell } from '../components/time.tsx';
import { queryClient, slugsOf } from '../queries.ts';
import { service } from '../service.ts';
import { formatExact, formatRelative, t } from '../text.ts';
import { type Delivery, type DeliveryStatus, deliveriesQuery, type Endpoint, endpointQuery } from '../webhook-queries.ts';

const route = getRouteApi('/o/$organization/$workspace/admins/webhooks/$id');

/** An endpoint: what can be done with it, and what was sent to it. */
export default function Webhook() {
  const { id } = route.useParams();
  const endpoint = useQuery(endpointQuery(id));
  return <Loaded query={endpoint}>{(known) => <Known endpoint={known} />}</Loaded>;
}

function Known({ endpoint }: { endpoint: Endpoint }) {
  const { url, description, events, disabledReason, failingSince } = endpoint;
  return (
    <>
      <PageHead title={url}>
        <EndpointState endpoint={endpoint} />
      </PageHead>
      <Stack gap="xs" mb="md">
        {description && <Text className="foreign">{description}</Text>}
        <Text c="dimmed">{events.join(', ')}</Text>
        {disabledReason && <Text>{t.webhooks.disabledBecause[disabledReason]}</Text>}
        {!disabledReason && failingSince && <Text>{t.webhooks.failingSince(formatRelative(failingSince))}</Text>}
      </Stack>
      <Actions endpoint={endpoint} />
      <Deliveries endpointId={endpoint.id} />
    </>
  );
}

function Actions({ endpoint: { id, enabled } }: { endpoint: Endpoint }) {
  const place = route.useRouteContext();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<'rotate' | 'delete'>();
  const [secret, setSecret] = useState<string>();
  const onClose = () => setAsked(undefined);
  const test = useMutation({
    mutationFn: () => service.webhooks.test({ id }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['deliveries'] }),
  });
  const toggle = useMutation({
    mutationFn: () => service.webhooks.update({ id, enabled: !enabled }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['webhooks'] }),
  });
  const rotate = async () => {
    const made = await service.webhooks.rotateSecret({ id });
    // In one step with the dialog of the secret, which gives the focus back to what has it now.
    onClose();
    setSecret(made.secret ?? undefined);
  };
  return (
    <Stack gap="sm" mb="lg">
      <Group gap="xs">
        <Button size="xs" variant="default" loading={test.isPending} onClick={() => test.mutate()}>
          {t.webhooks.test}
        </Button>
        <Button size="xs" variant="default" loading={toggle.isPending} onClick={() => toggle.mutate()}>
          {enabled ? t.webhooks.disable : t.webhooks.enable}
        </Button>
        <Button size="xs" variant="default" onClick={() => setAsked('rotate')}>
          {t.webhooks.rotate}
        </Button>
        <Button size="xs" variant="default" onClick={() => setAsked('delete')}>
          {t.common.delete}
        </Button>
      </Group>
      {test.isSuccess && <Text role="status">{t.webhooks.tested}</Text>}
      <Failure error={test.error ?? toggle.error} />
      {asked === 'rotate' && (
        <Confirm
          title={t.webhooks.rotateTitle}
          text={t.webhooks.rotateText}
          action={t.webhooks.rotate}
          task={rotate}
          changes={['webhooks']}
          onClose={onClose}
        />
      )}
      {asked === 'delete' && (
        <Confirm
          title={t.webhooks.deleteTitle}
          text={t.webhooks.deleteText}
          action={t.common.delete}
          task={() => service.webhooks.delete({ id })}
          changes={['webhooks', place.organization.id]}
          onClose={onClose}
          onDone={() => void navigate({ to: '/o/$organization/$workspace/webhooks', params: slugsOf(place) })}
        />
      )}
      {secret && (
        <Secret title={t.webhooks.secretTitle} hint={t.webhooks.secretHint} secret={secret} onClose={() => setSecret(undefined)} />
      )}
    </Stack>
  );
}

function Deliveries({ endpointId }: { endpointId: string }) {
  const { organization } = route.useRouteContext();
  const { status } = route.useSearch();
  const navigate = useNavigate({ from: '/o/$organization/$workspace/webhooks/$id' });
  const deliveries = useInfiniteQuery(deliveriesQuery(organization.id, endpointId, status));
  const items = deliveries.data?.pages.flatMap((page) => page.items) ?? [];
  const onFilter = (next: DeliveryStatus | undefined) => void navigate({ search: { status: next }, replace: true });
  return (
    <>
      <Title order={2} size="h4" mb="sm">
        {t.webhooks.deliveries}
      </Title>
      <Filter label={t.webhooks.deliveriesLabel} values={t.webhooks.statuses} value={status} onChange={onFilter} />
      <ResendFailed endpointId={endpointId} isOffered={items.some((each) => each.status === 'failed')} />
      <Paged
        query={deliveries}
        isEmpty={items.length === 0}
        empty={<Empty text={status ? t.webhooks.noneFiltered : t.webhooks.noDeliveries} />}
      >
        <DeliveryTable items={items} />
      </Paged>
    </>
  );
}

function ResendFailed({ endpointId, isOffered }: { endpointId: string; isOffered: boolean }) {
  const { organization } = route.useRouteContext();
  const resend = useMutation({
    mutationFn: () => resendFailed(organization.id, endpointId),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['deliveries'] }),
  });
  if (!isOffered && resend.isIdle) return null;
  return (
    <Stack gap="xs" mb="md">
      {isOffered && (
        <Button size="xs" variant="default" w="fit-content" loading={resend.isPending} onClick={() => resend.mutate()}>
          {t.webhooks.resendFailed}
        </Button>
      )}
      {resend.isSuccess && <Text role="status">{t.webhooks.resent(resend.data)}</Text>}
      <Failure error={resend.error} />
    </Stack>
  );
}

/** Sends all failed deliveries of an endpoint again, and returns how many. */
async function resendFailed(organizationId: string, endpointId: string): Promise<number> {
  let sent = 0;
  let cursor: string | undefined;
  do {
    const { resent, nextCursor } = await service.webhooks.resendMany({ organizationId, endpointId, ...(cursor && { cursor }) });
    sent += resent;
    cursor = nextCursor ?? undefined;
  } while (cursor);
  return sent;
}

const tones = { pending: 'busy', delivered: 'good', failed: 'bad' } as const;

function DeliveryTable({ items }: { items: Delivery[] }) {
  return (
    <Rows heads={[t.webhooks.event, t.jobs.state, { number: t.jobs.attempts }, t.common.created, { number: t.common.actions }]}>
      {items.map((delivery) => (
        <DeliveryRow key={delivery.id} delivery={delivery} />
      ))}
    </Rows>
  );
}

function DeliveryRow({ delivery }: { delivery: Delivery }) {
  const { id, event, status, error, attempts, nextAttemptAt, createdAt } = delivery;
  return (
    <Table.Tr>
      <Table.Td>
        <Text fw={550}>{event}</Text>
        {error && <Foreign c="red">{error}</Foreign>}
        {nextAttemptAt && status === 'pending' && (
          <Text c="dimmed">
            <NextAttempt at={nextAttemptAt} />
          </Text>
        )}
        <Exchange delivery={delivery} />
      </Table.Td>
      <Table.Td>
        <StateMark tone={tones[status]}>{t.webhooks.statuses[status]}</StateMark>
      </Table.Td>
      <Table.Td className="number" data-label={t.jobs.attempts}>
        {attempts.length}
      </Table.Td>
      <TimeCell at={createdAt} />
      <Table.Td className="number">
        <RowMenu
          name={`${event}, ${formatExact(createdAt)}`}
          changes={['deliveries']}
          actions={[status !== 'pending' && { label: t.webhooks.resend, run: () => service.webhooks.resend({ id }) }]}
        />
      </Table.Td>
    </Table.Tr>
  );
}

function Exchange({ delivery: { request, response } }: { delivery: Delivery }) {
  return (
    <details>
      <summary>{t.webhooks.details}</summary>
      <Text size="xs" fw={550} mt="xs">
        {t.webhooks.request}
      </Text>
      <pre className="foreign raw">{request.body}</pre>
      {response && (
        <>
          <Text size="xs" fw={550}>
            {t.webhooks.response(response.status)}
          </Text>
          <pre className="foreign raw">{response.body}</pre>
        </>
      )}
    </details>
  );
}
