import { Button, Group, NativeSelect, Paper, Text, TextInput, Title } from '@mantine/core';
import { SheafError } from '@sheaf/client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { membersQuery, type Team, teamMembersQuery, teamsQuery } from '../member-queries.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';
import { Confirm } from './confirm.tsx';
import { Empty } from './empty.tsx';
import { Foreign } from './foreign.tsx';
import { FormDialog } from './form-dialog.tsx';
import { Loaded } from './loaded.tsx';
import { RowMenu } from './row-menu.tsx';
import type { FormTask } from './use-form-task.ts';

const route = getRouteApi('/o/$organization/$workspace/members');

type Asked = { what: 'create' } | { what: 'add' | 'delete'; team: Team };

/** The teams of an organization; who is in one sees its members. */
export function Teams() {
  const { organization, isAdmin } = route.useRouteContext();
  const teams = useQuery(teamsQuery(organization.id));
  const [asked, setAsked] = useState<Asked>();
  const onClose = () => setAsked(undefined);
  return (
    <>
      <Group justify="space-between" mt="xl" mb="sm">
        <Title order={2} size="h4">
          {t.teams.title}
        </Title>
        {isAdmin && (
          <Button size="xs" variant="default" onClick={() => setAsked({ what: 'create' })}>
            {t.teams.create}
          </Button>
        )}
      </Group>
      <Loaded query={teams}>
        {(items) =>
          items.length === 0 ? (
            <Empty text={t.teams.none} />
          ) : (
            items.map((team) => <TeamPaper key={team.id} team={team} onAsk={(what) => setAsked({ what, team })} />)
          )
        }
      </Loaded>
      {asked?.what === 'create' && <CreateTeam onClose={onClose} />}
      {asked?.what === 'add' && <AddMember team={asked.team} onClose={onClose} />}
      {asked?.what === 'delete' && (
        <Confirm
          title={t.documents.deleteTitle(asked.team.name)}
          text={t.teams.deleteText}
          action={t.common.delete}
          task={() => ask(auth.organization.removeTeam({ teamId: asked.team.id, organizationId: organization.id }))}
          changes={['teams', organization.id]}
          onClose={onClose}
        />
      )}
    </>
  );
}

function TeamPaper({ team: { id, name }, onAsk }: { team: Team; onAsk: (what: 'add' | 'delete') => void }) {
  const { isAdmin } = route.useRouteContext();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Paper withBorder p="md" mb="sm">
      <Group justify="space-between" gap="xs">
        <Foreign fw={550}>{name}</Foreign>
        {isAdmin && (
          <RowMenu
            name={name}
            actions={[
              { label: t.teams.add, run: () => onAsk('add') },
              { label: t.common.delete, isDangerous: true, run: () => onAsk('delete') },
            ]}
          />
        )}
      </Group>
      <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
        <summary>{t.nav.pages.members}</summary>
        {isOpen && <TeamMembers teamId={id} />}
      </details>
    </Paper>
  );
}

function TeamMembers({ teamId }: { teamId: string }) {
  const { organization } = route.useRouteContext();
  const inTeam = useQuery(teamMembersQuery(teamId));
  const members = useInfiniteQuery(membersQuery(organization.id));
  const all = members.data?.pages.flatMap((page) => page.members) ?? [];
  if (inTeam.error instanceof SheafError && inTeam.error.code === 'USER_IS_NOT_A_MEMBER_OF_THE_TEAM')
    return <Text c="dimmed">{t.teams.notYours}</Text>;
  return (
    <Loaded query={inTeam}>
      {(items) =>
        items.map(({ userId }) => <Foreign key={userId}>{all.find((member) => member.userId === userId)?.user.name ?? userId}</Foreign>)
      }
    </Loaded>
  );
}

function CreateTeam({ onClose }: { onClose: () => void }) {
  const { organization } = route.useRouteContext();
  const task: FormTask = ({ name = '' }) => ask(auth.organization.createTeam({ name, organizationId: organization.id }));
  return (
    <FormDialog title={t.teams.create} action={t.common.save} task={task} changes={['teams']} onClose={onClose}>
      <TextInput label={t.documents.name} name="name" required maxLength={80} />
    </FormDialog>
  );
}

function AddMember({ team, onClose }: { team: Team; onClose: () => void }) {
  const { organization } = route.useRouteContext();
  const members = useInfiniteQuery(membersQuery(organization.id));
  const options = members.data?.pages.flatMap((page) => page.members).map(({ userId, user }) => ({ value: userId, label: user.name }));
  const task: FormTask = ({ userId = '' }) =>
    ask(auth.organization.addTeamMember({ teamId: team.id, userId, organizationId: organization.id }));
  return (
    <FormDialog title={t.teams.addTo(team.name)} action={t.teams.add} task={task} changes={['teams']} onClose={onClose}>
      <NativeSelect label={t.nav.pages.members} name="userId" data={options ?? []} />
    </FormDialog>
  );
}
