/** A text with a summary that a person wrote of it in words of their own. */
export interface SummarizedText {
  name: string;
  text: string;
  reference: string;
}

/** Texts of different kinds, written for this project. Where the main point stands differs: at the beginning, in the middle, at the end. */
export const summarizedTexts: SummarizedText[] = [
  {
    name: 'news of a bridge',
    text: `The old railway bridge at Hallow Creek will close for eighteen months from the first of March, the county announced on Tuesday. Engineers found cracks in four of its eleven piers during an inspection in October, and the repair cannot be done while trains are running. Trains between Oldwick and Tarn Bridge will be replaced by buses, which take forty minutes longer.

The cracks were caused by gravel that winter floods have carried away from the feet of the piers since 2011. "Nobody was ever in danger, because we lowered the speed of trains as soon as we knew," said the county's chief engineer, Ruth Mallory. Divers had looked at the piers every five years, but only above the river bed.

The repair will cost 14 million crowns, of which the state pays two thirds. The county will borrow the rest. A proposal to build a new bridge of concrete was turned down because it would have cost three times as much and would have needed seven years.

Shopkeepers in Tarn Bridge fear for the summer season. Half of their guests arrive by train, according to the chamber of commerce. The chamber asks for lower bus fares at weekends, and the council will decide about that in January. The bridge was built in 1887 and is a listed monument. A small exhibition in the town hall shows its history.`,
    reference: `The Hallow Creek railway bridge closes for eighteen months from March, since an inspection found cracks in four piers where floods had washed gravel away. Slower buses replace the trains. The repair costs 14 million crowns, two thirds paid by the state, and shopkeepers worry about losing summer guests.`,
  },
  {
    name: 'minutes of a meeting',
    text: `The committee of the allotment gardens met on 4 May in the tool shed, since the hall was being painted. Present were Anna Brandt, who took the chair, Jonas Wei, Petra Lund and eleven members. The minutes of the April meeting were read and accepted without changes. Mr Wei thanked those who had mended the fence after the storm.

Mrs Lund reported on the accounts. The club has 3,120 crowns in the bank, 400 less than a year ago, because the price of water has risen by a fifth. Four members have not paid their fee, and she will write to them again.

There was a long discussion about water. The pump broke three times last summer, and the pump maker no longer sells parts. Mr Wei had asked for three offers: a new electric pump would cost 2,600 crowns, a solar pump 4,100, and rain barrels for every garden 1,900. Several members doubted that barrels would last through a dry July. Mrs Brandt pointed out that the city pays half of a solar pump if it is ordered before the end of June.

The members decided by nine votes to two to buy the solar pump, and to raise the yearly fee from 60 to 75 crowns until it is paid for. Mr Wei will order it this month and apply for the money of the city. The summer party was moved to 19 July. The meeting ended at nine o'clock, and there was cake.`,
    reference: `The members voted nine to two for a solar pump of 4,100 crowns, half of which the city pays if it is ordered before July, because the old pump kept breaking and its parts are no longer sold. The yearly fee rises from 60 to 75 crowns until it is paid for. The club has 3,120 crowns, less than last year, as water got dearer.`,
  },
  {
    name: 'report of a study',
    text: `Many gardeners believe that coffee grounds keep slugs away from lettuce. The advice is found in most handbooks, but it has hardly ever been tested outdoors. We compared lettuce beds with and without coffee grounds over two summers at three sites with different soils.

Each site had twelve beds of two square metres. Half of them, chosen by lot, got a ring of coffee grounds five centimetres wide, renewed every week and after heavy rain. Slugs were counted at dawn twice a week, and the eaten leaf area was measured from photographs. Beds of both kinds were watered in the same way.

In dry weeks there were 38 percent fewer slugs in beds with a ring. In wet weeks, however, there was no difference at all: rain washed the grounds apart within hours. Since slugs do nine tenths of their damage in wet weeks, the leaf area lost over the season was almost the same, 21 percent with coffee and 23 percent without.

Lettuce inside the rings grew a little more slowly, perhaps because the grounds bind nitrogen. One site had to be left out in the second summer after deer had got in. We did not test other plants. Our results suggest that coffee grounds are not worth the work as a protection against slugs, and that collecting slugs at dawn after rain would save more lettuce in less time.`,
    reference: `In a trial over two summers at three sites, rings of coffee grounds kept slugs off lettuce only in dry weeks, by 38 percent; rain washes them away, and most damage happens in wet weeks. The loss over the season was nearly equal, 21 against 23 percent, so coffee grounds are not worth the effort, and collecting slugs after rain is better.`,
  },
  {
    name: 'entry of an encyclopedia',
    text: `The bearded vulture is a large bird of prey that lives in high mountains of Europe, Asia and Africa. Its wings span up to 2.8 metres. Unlike other vultures it has feathers on its head and neck, and a tuft of bristles at its bill that gave it its name.

It feeds almost only on bones. Small ones are swallowed whole, since its stomach acid is strong enough to dissolve them within a day. Large bones are carried up to a hundred metres high and dropped onto rocks until they break. Young birds need years to learn this.

Pairs stay together for life and nest in caves of steep cliffs. The female lays two eggs in midwinter, so that the chick hatches when snow melts and dead animals appear. The second chick is a reserve and is killed by the first, as a rule.

People once believed that the bird took lambs and even children, and hunted it for this reason. In the Alps the last one was shot in 1913. Since 1986 birds that were bred in zoos have been set free there, and about three hundred live in the Alps again today. Lead from hunters' bullets, which they swallow with the remains of shot animals, is now their greatest danger. Wires of cable cars are another.`,
    reference: `The bearded vulture is a big mountain bird of prey with a feathered neck that lives almost entirely on bones, dropping large ones on rocks to break them. It was wiped out in the Alps by 1913 because people thought it took lambs, but birds from zoos released since 1986 have grown to about three hundred. Lead from bullets is the main danger today.`,
  },
  {
    name: 'letter to customers',
    text: `Dear customers, thank you for your patience during the last few days. As many of you have noticed, our shop could not be reached between Friday evening and Sunday noon. We would like to tell you what happened and what we do about it.

On Friday at 18:20 a disk in our main server failed. That is nothing unusual, and a second disk should have taken over. It did not, because an update in September had turned the mirroring off, and none of our checks had told us. So the orders of Friday afternoon were only on the broken disk.

Our technicians restored the database from the copy of Friday morning. A firm for data recovery has since read most of the broken disk. 212 of 231 orders are there again and will be sent by Wednesday. For the other 19 we have only the payments, and we have written to these customers to ask what they had ordered. No card numbers were lost or seen by anybody, as we do not store them.

From now on the copy is made every hour, and a check tries each night whether it can be read. Mirroring is watched, too. Everybody who ordered on Friday gets a voucher of ten crowns. We are sorry for the trouble, and hope that you will stay with us.`,
    reference: `The shop was down from Friday evening to Sunday noon because a disk failed and its mirror had been switched off by an update without anyone noticing. Of 231 orders 212 were recovered, the other 19 customers were asked, and no card data was lost. Backups are now made hourly and tested every night, and customers who ordered on Friday get a voucher.`,
  },
  {
    name: 'history of a lighthouse',
    text: `For centuries the reef off Cape Sorrow had no light. Ships that came from the west in fog found it with their keels, and the church of the village still has the bells of eleven of them. In 1790 the merchants of Oldwick collected money for a wooden tower. It stood for four winters, then a storm took it away with its two keepers.

The second tower was of iron. Its legs let the waves pass, and it was thought to be safe from them. But it shook so much in a gale that the oil spilled from the lamp, and in 1823 the light went out on the very night when the brig Constance came in. Ninety people drowned. The outcry was so great that parliament took all lighthouses away from merchants and founded a board for them.

The board gave the work to Helen Marsh's father, who died soon after, and she finished it from his drawings. Her tower of granite, whose stones are dovetailed into each other like woodwork, was lit in 1836. It was the first that was built so by a woman, and the way in which the stones lock has been copied in six countries.

The light was turned by clockwork until 1961 and has been electric since. The last keeper left in 1988. Today the tower is run from a desk on land, and the rooms of the keepers can be rented in summer.`,
    reference: `Two earlier towers on the reef off Cape Sorrow failed: the wooden one was swept away, and the iron one shook so much that its lamp went out in 1823 when a brig was wrecked and ninety died, after which parliament put lighthouses under a board. Helen Marsh completed her father's granite tower of interlocking stones in 1836, a design that six countries copied. It has been electric since 1961 and without keepers since 1988.`,
  },
  {
    name: 'instructions',
    text: `Sourdough bread needs little work but a lot of time. If you want to eat it on Sunday morning, begin on Friday evening. All you need is flour, water, salt and a starter that is alive.

Feed the starter on Friday evening with equal weights of flour and water, and leave it in a warm place. On Saturday morning it should have doubled, and a spoonful of it should float on water. If it sinks, wait, or feed it once more; dough from a tired starter will not rise, whatever you do later. This is the most frequent mistake.

Mix 500 grams of flour with 350 grams of water and let it rest for half an hour. Add 100 grams of starter and 10 grams of salt. Fold the dough four times, with half an hour between. Then leave it until it has grown by half, which takes three hours in summer and six in winter. Go by its size, not by the clock.

Shape it on Saturday evening, lay it into a basket, and put it into the refrigerator for the night. The cold slows it down, gives it taste, and makes it easy to cut. On Sunday heat a pot with a lid in the oven to 250 degrees, drop the loaf in, and bake it with the lid for 25 minutes and without it for 20. Let it cool before you cut it, however hard that is.`,
    reference: `For bread on Sunday feed the starter on Friday evening, and use it only once it has doubled and floats, since a weak starter is the most common mistake. On Saturday mix and fold the dough, let it grow by half, and leave the shaped loaf in the refrigerator overnight. On Sunday bake it in a hot pot at 250 degrees, 25 minutes with the lid and 20 without.`,
  },
  {
    name: 'review of a book',
    text: `Nobody has waited for another book about the sea. Shelves bend under captains, storms and whales, and when "The Salt Ledger" came in the post I put it aside for a month. That was a mistake.

Ines Okafor, who was an accountant before she wrote, tells the story of one voyage from Oldwick to Valdivia in 1869 from nothing but its bills. What did 40 barrels of pork cost, and why were only 31 eaten? Who paid for the carpenter's new saw? Out of such questions rises a crew that one can hear and smell, and a crime that lay hidden in the columns for 150 years: the owner had insured the ship for twice its worth and stored too little water on purpose.

The first chapter is slow. Readers have to learn how a ledger was kept, and Okafor is a strict teacher. Her sentences are short and without ornament, which suits the matter but tires one after a while. There are no pictures, apart from a map that is too small.

Then the water runs out in the sixth chapter, and from there on I could not put it down. The trial at the end, which the owner wins, made me angrier than any novel this year. It is a great book about how numbers can lie and how they betray the liar. Read it with a pencil, and do not give up before chapter six.`,
    reference: `In "The Salt Ledger" the former accountant Ines Okafor tells of a voyage of 1869 from its bills alone, and uncovers that the owner over-insured the ship and took too little water on purpose. The beginning is slow and the style plain, but from the sixth chapter on it is gripping. The reviewer calls it a great book about how numbers lie and give liars away.`,
  },
  {
    name: 'report of an accident',
    text: `At 07:52 on 14 November the ferry Gannet touched the end of the northern pier while berthing in Oldwick. Two passengers were slightly hurt when they fell on the stairs. A plank of the pier broke, and the bow of the ship has a dent of one metre above the waterline. There was no leak.

The wind came from the west with 9 metres per second, and sight was good. The master, who has had this command for six years, was at the controls on the bridge wing. He had taken over from the mate 90 seconds before. The voyage until then was normal.

The recorder shows that the engines were set to full astern 70 metres from the pier, as usual, but that the port engine went on ahead for eleven seconds. The lever on the wing had not been given control: the switch that hands it over from the main console has two steps, and stopped at the first one. A lamp tells that, but it is green in both positions, and in sunlight hardly to be seen.

The same had happened on the sister ship Fulmar in 2019 without damage, and the company had been told by the maker to exchange the switch. It had not been done because the letter was filed under another ship's name. We recommend that the switch is exchanged on both ships before they sail again, that the lamp gets a second colour, and that levers are tried 500 metres before the pier.`,
    reference: `The ferry Gannet hit the pier at Oldwick on 14 November, hurting two passengers slightly, because the port engine ran ahead for eleven seconds: the switch that hands control to the bridge wing had stopped halfway, and its lamp does not show it. The maker had advised exchanging the switch after a similar case in 2019, but the letter was misfiled. The report recommends a new switch, a lamp of two colours, and a test of the levers before berthing.`,
  },
  {
    name: 'plan of a city',
    text: `Oldwick has 46,000 inhabitants and 29,000 cars. In the old town, where streets are narrow, cars stand on every free metre, and buses lose up to a quarter of their time behind those who look for a place. The council therefore asked for a plan, which is presented here. It was worked out with shopkeepers, residents and the fire brigade.

Parking in the streets of the old town shall end within four years. Residents get places in two garages at the ring road, for 30 crowns a month. Visitors pay by the hour there. Shops can be supplied until eleven in the morning, and places for disabled people stay where they are. The space that is gained goes to pavements, trees and 900 stands for bicycles.

The experience of other towns is encouraging. In Marsden sales of shops fell by 4 percent in the first year and were 11 percent higher after three. In Corby, however, where the garage was opened a year too late, several shops gave up. So nothing is to be closed here before the garages are open.

The garages cost 22 million crowns, which fees bring back within nineteen years. Buses would need six vehicles fewer for the same timetable. The greatest risk is the ground near the river, which has not been examined yet. The council decides in September, and residents can comment on the plan until the end of June.`,
    reference: `The plan ends street parking in the old town of Oldwick within four years, and gives residents places in two garages at the ring road, with the space used for pavements, trees and bicycles. Nothing closes before the garages, which cost 22 million crowns, are open, since shops suffered in Corby where they came too late. The council decides in September.`,
  },
  {
    name: 'interview',
    text: `Marit Lindqvist has kept the machines of the Korvid Ridge Observatory running for 22 years. We met her in the workshop below the dome, where it smelled of oil and oranges. She had a cold and apologized for it twice.

She came to the ridge by accident, she says. She had built lifts for ski resorts, and was called because the dome got stuck one winter. "They thought it was the motor. It was a dead raven in the rail." She stayed for a week, then for a year.

What people do not understand, in her view, is that a telescope is mostly plumbing. Most nights that are lost to technical faults are lost to cooling water, compressed air and cables, not to mirrors or detectors. So she spends the greater part of her budget on pipes. Since she began, lost nights have gone down from 19 in a year to three. Other observatories have asked her how, and the answer disappoints them, she says: lists. Every part has a date on which it is exchanged, whether it is broken or not.

She will retire in two years and worries about who comes after her. Three posts for engineers have been empty since spring, because firms in the valley pay half as much again. She has begun to write everything down. The book has 600 pages so far, and the first sentence is: look for the raven.`,
    reference: `Marit Lindqvist, who has looked after the machines of the Korvid Ridge Observatory for 22 years, says a telescope is mostly plumbing, and that most failures come from cooling, air and cables. By exchanging every part on a fixed date she cut lost nights from 19 a year to three. She retires in two years, and as engineers' posts stay empty because firms pay more, she is writing down all she knows.`,
  },
  {
    name: 'terms of a contract',
    text: `This agreement is between the cooperative of the observatory, the lessor, and the University of Marsden, the lessee. It concerns the refracting telescope known as the Twin, with its two cameras, its mount, and the software that belongs to them. Words in it have the meaning that the statutes of the cooperative give them.

The lessee may use the telescope on 40 nights in each calendar year, of which at most 15 are within ten days of new moon. Nights are asked for six weeks ahead. A night that is lost to weather counts as half a night. The lease begins on 1 January and lasts for five years, and goes on from year to year unless one side ends it by the end of June.

The lessee pays 8,400 crowns a year in two parts, on 1 February and on 1 August. The price is adapted each year to the index of consumer prices. If a payment is more than 60 days late, the lessor may give the nights to others until it has arrived.

The lessor keeps the telescope in working order. If it cannot be used for more than 20 days in a row for a technical reason, the rent is reduced in proportion. The lessee pays for damage that its observers cause, up to 50,000 crowns for each case, and has to be insured for that. Data belong to the lessee for eighteen months and are public afterwards. Courts in Oldwick decide about disputes.`,
    reference: `The University of Marsden leases the Twin telescope for 40 nights a year for five years, renewed yearly unless ended by the end of June. It pays 8,400 crowns a year, indexed to consumer prices, and loses nights if it pays more than 60 days late. The owner maintains the telescope and lowers the rent for long failures; the university is liable for damage up to 50,000 crowns, and its data become public after eighteen months.`,
  },
];
