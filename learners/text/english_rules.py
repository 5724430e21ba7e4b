"""The words behind the `english` normaliser: contractions, titles, fillers, spelling variants. Data only.

British forms are listed by the way in which they differ, as stems: "col" among `OUR_STEMS` stands for every
word that continues "colour" by one of `OUR_ENDINGS` ("-" is no ending at all). Words whose American form is
at home in British English with another meaning (cheque, which would become check) are left out.
"""

FILLERS = frozenset({"hmm", "mm", "mhm", "mmm", "uh", "um", "er", "erm", "ah"})

# A whole token and the tokens that it stands for.
CONTRACTIONS = {
    "won't": ("will", "not"),
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "shan't": ("shall", "not"),
    "ain't": ("is", "not"),
    "let's": ("let", "us"),
    "y'all": ("you", "all"),
    "wanna": ("want", "to"),
    "gotta": ("got", "to"),
    "gonna": ("going", "to"),
    "gimme": ("give", "me"),
    "lemme": ("let", "me"),
    "'tis": ("it", "is"),
    "'twas": ("it", "was"),
    "o'er": ("over",),
    "ma'am": ("madam",),
    "goin'": ("going",),
    "'em": ("them",),
    "'bout": ("about",),
    "'cause": ("because",),
    "mr": ("mister",),
    "mr.": ("mister",),
    "mrs": ("missus",),
    "mrs.": ("missus",),
    "st.": ("saint",),
    "dr": ("doctor",),
    "dr.": ("doctor",),
    "prof": ("professor",),
    "prof.": ("professor",),
    "capt": ("captain",),
    "capt.": ("captain",),
    "gov": ("governor",),
    "gov.": ("governor",),
    "gen": ("general",),
    "gen.": ("general",),
    "sen": ("senator",),
    "sen.": ("senator",),
    "rep.": ("representative",),
    "rev": ("reverend",),
    "rev.": ("reverend",),
    "hon": ("honorable",),
    "hon.": ("honorable",),
    "lt": ("lieutenant",),
    "lt.": ("lieutenant",),
    "jr": ("junior",),
    "jr.": ("junior",),
    "sr": ("senior",),
    "sr.": ("senior",),
    "esq": ("esquire",),
    "esq.": ("esquire",),
    "vs": ("versus",),
    "vs.": ("versus",),
    "&": ("and",),
    "ok": ("okay",),
}

# An ending of a token and the token that it becomes.
CONTRACTED_ENDINGS = (
    ("n't", "not"),
    ("'re", "are"),
    ("'ve", "have"),
    ("'ll", "will"),
    ("'d", "would"),
    ("'m", "am"),
)
# Only after these is 's a verb; elsewhere it marks a possessive and stays.
IS_AFTER = frozenset(
    {"it", "he", "she", "that", "there", "what", "who", "where", "how", "here", "when", "why"}
)

OUR_STEMS = (
    "arb arm behavi cand clam col demean endeav fav ferv flav glam harb hon hum lab misdemean neighb "
    "od parl ranc rig rum sav splend succ tum val vap vig discol dishon disfav belab enam"
)
OUR_ENDINGS = (
    "- s ed ing ings er ers able ably ite ites itism hood hoods less ful fully ist ists al ally ism y ize "
    "ized izes izing izer izers ous ously"
)
RE_STEMS = "cent theat lit met calib fib spect sab ch sepulch somb lust meag saltpet och reconnoit"
ISE_STEMS = (
    "agon apolog author bapt brutal capital categor character civil colon crit crystall dramat econom emphas "
    "energ equal extempor familiar fertil formal fossil general harmon hypnot ideal immortal individual "
    "industrial italic legal local magnet material max mechan memor min mobil modern monopol moral natural "
    "neutral normal organ oxid patron penal philosoph plagiar polar popular pulver rational real recogn "
    "reorgan scrutin sensit social special stabil standard steril subsid summar symbol sympath synchron "
    "system tantal temporal terror theor tranquill tyrann urban util vapor victim visual vocal vulgar"
)
ISE_ENDINGS = "ise ises ised ising iser isers isation isations"
YSE_STEMS = "anal paral catal electrol"
YSE_ENDINGS = "yse ysed yses ysing"
DOUBLED_L_STEMS = (
    "cancel channel counsel crystal dial duel equal fuel funnel gravel grovel jewel label level libel "
    "marshal marvel model panel pedal pencil quarrel revel rival shovel shrivel signal snivel spiral "
    "stencil swivel total towel travel tunnel unravel"
)
DOUBLED_L_ENDINGS = "ed ing ings er ers or ors ous ously"
OTHER_SPELLINGS = {
    "grey": "gray",
    "greys": "grays",
    "greyish": "grayish",
    "plough": "plow",
    "ploughs": "plows",
    "ploughed": "plowed",
    "ploughing": "plowing",
    "ploughman": "plowman",
    "ploughshare": "plowshare",
    "ploughshares": "plowshares",
    "defence": "defense",
    "defences": "defenses",
    "defenceless": "defenseless",
    "offence": "offense",
    "offences": "offenses",
    "pretence": "pretense",
    "pretences": "pretenses",
    "licence": "license",
    "licences": "licenses",
    "practise": "practice",
    "practised": "practiced",
    "practises": "practices",
    "practising": "practicing",
    "sceptic": "skeptic",
    "sceptical": "skeptical",
    "scepticism": "skepticism",
    "sceptics": "skeptics",
    "jewellery": "jewelry",
    "catalogue": "catalog",
    "catalogues": "catalogs",
    "catalogued": "cataloged",
    "dialogue": "dialog",
    "dialogues": "dialogs",
    "mould": "mold",
    "moulds": "molds",
    "moulded": "molded",
    "moulding": "molding",
    "mouldy": "moldy",
    "moult": "molt",
    "smoulder": "smolder",
    "smouldering": "smoldering",
    "axe": "ax",
    "aeroplane": "airplane",
    "aeroplanes": "airplanes",
    "aluminium": "aluminum",
    "anaesthetic": "anesthetic",
    "anaesthesia": "anesthesia",
    "archaeology": "archeology",
    "encyclopaedia": "encyclopedia",
    "mediaeval": "medieval",
    "paediatric": "pediatric",
    "haemorrhage": "hemorrhage",
    "foetus": "fetus",
    "diarrhoea": "diarrhea",
    "manoeuvre": "maneuver",
    "manoeuvres": "maneuvers",
    "manoeuvred": "maneuvered",
    "manoeuvring": "maneuvering",
    "instalment": "installment",
    "instalments": "installments",
    "enrol": "enroll",
    "enrolment": "enrollment",
    "fulfil": "fulfill",
    "fulfils": "fulfills",
    "fulfilment": "fulfillment",
    "skilful": "skillful",
    "skilfully": "skillfully",
    "wilful": "willful",
    "wilfully": "willfully",
    "distil": "distill",
    "instil": "instill",
    "appal": "appall",
    "enthral": "enthrall",
    "judgement": "judgment",
    "judgements": "judgments",
    "acknowledgement": "acknowledgment",
    "acknowledgements": "acknowledgments",
    "ageing": "aging",
    "woollen": "woolen",
    "woollens": "woolens",
    "waggon": "wagon",
    "waggons": "wagons",
    "gaol": "jail",
    "gaoler": "jailer",
    "gaols": "jails",
    "pyjamas": "pajamas",
    "tyre": "tire",
    "tyres": "tires",
    "kerb": "curb",
    "draught": "draft",
    "draughts": "drafts",
    "cosy": "cozy",
    "connexion": "connection",
    "connexions": "connections",
    "reflexion": "reflection",
    "storey": "story",
    "storeys": "stories",
    "sulphur": "sulfur",
    "sulphurous": "sulfurous",
    "whisky": "whiskey",
    "yoghurt": "yogurt",
    "programme": "program",
    "programmes": "programs",
    "travelogue": "travelog",
    "centred": "centered",
    "centring": "centering",
    "lustreless": "lusterless",
    "theatregoer": "theatergoer",
    "towards": "toward",
    "afterwards": "afterward",
    "backwards": "backward",
    "forwards": "forward",
    "upwards": "upward",
    "downwards": "downward",
    "learnt": "learned",
    "burnt": "burned",
    "dreamt": "dreamed",
    "spelt": "spelled",
    "spoilt": "spoiled",
    "shew": "show",
    "shewed": "showed",
    "shewn": "shown",
}
