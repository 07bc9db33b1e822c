import { Button, Group, NativeSelect, Table, Text, TextInput } from '@mantine/core';
import type { Workspace } from '@sheaf/client';
import { queryOptions, useMutation, useQueries, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { Budgets } from '../components/budgets.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Failure } from '../components/failure.tsx';
import { Foreign } from '../components/foreign.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { Retention, SetHold } from '../components/keeping.tsx';
import { Lacks } from '../components/lacks.tsx';
import { LinkTo } from '../components/link-to.tsx';
import { PageHead } from '../components/page-head.tsx';
import { RowMenu } from '../components/row-menu.tsx';
import { Rows } from '../components/rows.tsx';
import { TimeCell } from '../components/time.tsx';
import { Subtitle } from '../components/titles.tsx';
import { TypedAgain } from '../components/typed-again.tsx';
import { createWorkspace } from '../create-place.ts';
import { leave, queryClient, workspacesQuery } from '../queries.ts';
import { ask, auth, service } from '../service.ts';
import { formatBytes, t } from '../text.ts';

const route = getRouteApi('/o/$organization/$workspace/workspaces');

/** What of the organization may not be deleted, and why. */
const holdsQuery = (organizationId: string) =>
  queryOptions({ queryKey: ['holds', organizationId], queryFn: () => service.organizations.holds({ organizationId }) });

type Asked =
  | { what: 'create' | 'rename organization' | 'delete organization' | 'hold organization' }
  | { what: 'rename' | 'on duplicate' | 'budgets' | 'delete' | 'keep' | 'hold'; workspace: Workspace };

/** The workspaces of the organization, each with what it stores, and the names of both. */
export default function Workspaces() {
  const { organization, isAdmin, isOwner } = route.useRouteContext();
  const [asked, setAsked] = useState<Asked>();
  const onClose = () => setAsked(undefined);
  return (
    <>
      <PageHead title={t.nav.pages.workspaces}>
        <Group gap="xs">
          {isAdmin && (
            <Button variant="default" onClick={() => setAsked({ what: 'rename organization' })}>
              {t.workspaces.renameOrganization}
            </Button>
          )}
          <Button onClick={() => setAsked({ what: 'create' })}>{t.workspaces.create}</Button>
        </Group>
      </PageHead>
      <List onAsk={setAsked} />
      <Lacks permission="workspace:delete" />
      {isAdmin && <Lacks permission="organization:delete" />}
      {isOwner && (
        <>
          <HoldOfAll onHold={() => setAsked({ what: 'hold organization' })} />
          <Subtitle>{t.workspaces.deleteOrganization}</Subtitle>
          <Text mb="md">{t.workspaces.deleteOrganizationText}</Text>
          <Button variant="default" onClick={() => setAsked({ what: 'delete organization' })}>
            {t.workspaces.deleteOrganization}
          </Button>
        </>
      )}
      {asked?.what === 'create' && <Create onClose={onClose} />}
      {asked?.what === 'rename organization' && <RenameOrganization onClose={onClose} />}
      {asked?.what === 'delete organization' && <DeleteOrganization onClose={onClose} />}
      {asked?.what === 'rename' && <Rename workspace={asked.workspace} onClose={onClose} />}
      {asked?.what === 'on duplicate' && <ChangeDuplicates workspace={asked.workspace} onClose={onClose} />}
      {asked?.what === 'budgets' && <Budgets workspace={asked.workspace} onClose={onClose} />}
      {asked?.what === 'delete' && <Delete workspace={asked.workspace} onClose={onClose} />}
      {asked?.what === 'keep' && <Retention workspace={asked.workspace} onClose={onClose} />}
      {asked?.what === 'hold' && <SetHold organizationId={organization.id} workspace={asked.workspace} onClose={onClose} />}
      {asked?.what === 'hold organization' && <SetHold organizationId={organization.id} onClose={onClose} />}
    </>
  );
}

function HoldOfAll({ onHold }: { onHold: () => void }) {
  const { organization } = route.useRouteContext();
  const hold = useQuery(holdsQuery(organization.id)).data?.find(({ workspaceId }) => workspaceId === null);
  const lift = useMutation({
    mutationFn: () => service.organizations.liftHold({ organizationId: organization.id }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['holds'] }),
  });
  return (
    <>
      <Subtitle>{t.keeping.holdAll}</Subtitle>
      <Foreign mb="md">{hold ? t.keeping.isHeld(hold.reason) : t.keeping.holdHint}</Foreign>
      <Failure error={lift.error} />
      <Button variant="default" loading={lift.isPending} onClick={hold ? () => lift.mutate() : onHold}>
        {hold ? t.keeping.lift : t.keeping.holdAll}
      </Button>
    </>
  );
}

function List({ onAsk }: { onAsk: (asked: Asked) => void }) {
  const { organization, workspace, isAdmin, isOwner } = route.useRouteContext();
  const { data: holds = [] } = useQuery(holdsQuery(organization.id));
  const holdOf = (id: string) => holds.find(({ workspaceId }) => workspaceId === id);
  const { data = [workspace] } = useQuery(workspacesQuery(organization.id));
  const stored = useQueries({
    queries: data.map(({ slug }) => ({
      queryKey: ['storage', organization.id, slug],
      queryFn: () => service.workspaces.get({ organizationId: organization.id, slug }),
    })),
  });
  return (
    <Rows heads={[t.documents.name, { number: t.workspaces.storage }, t.common.created, { number: t.common.actions }]}>
      {data.map((each, index) => (
        <Table.Tr key={each.id}>
          <Table.Td>
            <LinkTo
              to="/o/$organization/$workspace/documents"
              params={{ organization: organization.slug, workspace: each.slug }}
              size="sm"
              className="foreign"
            >
              {each.name}
            </LinkTo>
            {holdOf(each.id) && <Foreign c="dimmed">{t.keeping.isHeld(holdOf(each.id)?.reason ?? '')}</Foreign>}
          </Table.Td>
          <Table.Td className="number">{formatStorage(stored[index]?.data?.storage)}</Table.Td>
          <TimeCell at={each.createdAt} />
          <Table.Td>
            <RowMenu
              name={each.name}
              changes={['holds']}
              actions={[
                { label: t.document.rename, run: () => onAsk({ what: 'rename', workspace: each }) },
                { label: t.workspaces.onDuplicate, run: () => onAsk({ what: 'on duplicate', workspace: each }) },
                isAdmin && { label: t.budgets.change, run: () => onAsk({ what: 'budgets', workspace: each }) },
                isAdmin && { label: t.keeping.retention, run: () => onAsk({ what: 'keep', workspace: each }) },
                isOwner &&
                  (holdOf(each.id)
                    ? {
                        label: t.keeping.lift,
                        run: () => service.organizations.liftHold({ organizationId: organization.id, workspaceId: each.id }),
                      }
                    : { label: t.keeping.hold, run: () => onAsk({ what: 'hold', workspace: each }) }),
                isAdmin && { label: t.common.delete, isDangerous: true, run: () => onAsk({ what: 'delete', workspace: each }) },
              ]}
            />
          </Table.Td>
        </Table.Tr>
      ))}
    </Rows>
  );
}

function formatStorage(storage: { usedBytes: number; limitBytes: number | null } | undefined): string {
  if (!storage) return '…';
  const used = formatBytes(storage.usedBytes);
  return storage.limitBytes === null ? used : t.common.of(used, formatBytes(storage.limitBytes));
}

function Create({ onClose }: { onClose: () => void }) {
  const { organization } = route.useRouteContext();
  const create = async ({ name = '' }: Record<string, string>) => {
    await createWorkspace(organization.id, name);
    onClose();
  };
  return (
    <FormDialog title={t.workspaces.create} action={t.start.create} task={create} onClose={onClose}>
      <Text>{t.workspaces.createHint}</Text>
      <Name />
    </FormDialog>
  );
}

function Name({ value }: { value?: string }) {
  return <TextInput label={t.documents.name} name="name" required maxLength={80} defaultValue={value} />;
}

interface ChangeProps {
  workspace: Workspace;
  onClose: () => void;
}

function Rename({ workspace: { id, name }, onClose }: ChangeProps) {
  return (
    <FormDialog title={t.workspaces.renameTitle(name)} action={t.common.save} task={useChange(id, onClose)} onClose={onClose}>
      <Name value={name} />
    </FormDialog>
  );
}

function ChangeDuplicates({ workspace: { id, name, onDuplicate }, onClose }: ChangeProps) {
  const data = Object.entries(t.workspaces.onDuplicateChoices).map(([value, label]) => ({ value, label }));
  return (
    <FormDialog title={t.workspaces.onDuplicateTitle(name)} action={t.common.save} task={useChange(id, onClose)} onClose={onClose}>
      <NativeSelect label={t.workspaces.onDuplicateLabel} name="onDuplicate" data={data} defaultValue={onDuplicate} />
    </FormDialog>
  );
}

/** The task of a form with fields of a workspace. */
function useChange(id: string, onDone: () => void) {
  const readAgain = useReadAgain();
  return async (fields: Record<string, string>) => {
    await service.workspaces.update({ id, ...fields });
    await readAgain();
    onDone();
  };
}

function RenameOrganization({ onClose }: { onClose: () => void }) {
  const { organization } = route.useRouteContext();
  const readAgain = useReadAgain();
  const task = async ({ name = '' }: Record<string, string>) => {
    await ask(auth.organization.update({ organizationId: organization.id, data: { name } }));
    await readAgain();
    onClose();
  };
  return (
    <FormDialog title={t.workspaces.renameTitle(organization.name)} action={t.common.save} task={task} onClose={onClose}>
      <Name value={organization.name} />
    </FormDialog>
  );
}

/** Reads the names again, also those that the frame of the page shows. */
function useReadAgain(): () => Promise<void> {
  const router = useRouter();
  return async () => {
    for (const name of ['organizations', 'workspaces']) await queryClient.invalidateQueries({ queryKey: [name] });
    await router.invalidate();
  };
}

function Delete({ workspace: { id, name }, onClose }: { workspace: Workspace; onClose: () => void }) {
  const { workspace } = route.useRouteContext();
  const navigate = useNavigate();
  return (
    <Confirm
      title={t.documents.deleteTitle(name)}
      text={t.workspaces.deleteText}
      action={t.common.delete}
      task={() => service.workspaces.delete({ id })}
      changes={['workspaces']}
      onClose={onClose}
      onDone={() => (id === workspace.id ? void navigate({ to: '/' }) : onClose())}
    />
  );
}

function DeleteOrganization({ onClose }: { onClose: () => void }) {
  const { organization } = route.useRouteContext();
  const task = async ({ confirmSlug = '' }: Record<string, string>) => {
    await service.organizations.delete({ organizationId: organization.id, confirmSlug });
    leave('/');
  };
  return (
    <FormDialog title={t.documents.deleteTitle(organization.name)} action={t.common.delete} task={task} onClose={onClose} isDangerous>
      <Text>{t.workspaces.deleteOrganizationText}</Text>
      <TypedAgain text={organization.slug} label={t.workspaces.typeSlug} name="confirmSlug" />
    </FormDialog>
  );
}
