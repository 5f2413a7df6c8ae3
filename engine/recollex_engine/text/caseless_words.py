"""The closed lists by which `caseless_names` finds names in scripts without capitals."""

_CHINESE_SURNAMES = """
王李张刘陈杨赵黄周吴徐孙胡朱林何郭罗梁宋郑谢韩唐冯董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余
潘杜戴钟汪姜范姚谭廖邹熊陆郝孔崔邱秦江史顾侯邵孟龙钱汤尹黎乔贺赖龚文
"""
CHINESE_SURNAMES = "".join(_CHINESE_SURNAMES.split())
"""Common surnames of one character; those that are mostly ordinary words are left out."""

_CHINESE_FAMILIAR = """
王李张刘陈杨赵黄周吴徐孙胡朱林何郭罗梁宋郑谢韩唐冯董程曹袁邓许沈曾彭吕苏卢蒋蔡丁魏薛叶余潘杜姚谭
廖陆
"""
CHINESE_FAMILIAR = "".join(_CHINESE_FAMILIAR.split())
"""Surnames after 小, 老 and 阿, as friends and colleagues are called."""

_CHINESE_TITLES = """
先生 女士 小姐 太太 夫人 老师 医生 大夫 教授 博士 院士 经理 主任 律师 警官 师傅 阿姨 叔叔 爷爷
奶奶 同学 总统 总理 主席 主教 将军 国王 女王 皇帝 公爵 伯爵 爵士
"""
CHINESE_TITLES = tuple(_CHINESE_TITLES.split())

_CHINESE_TRANSCRIBED = """
阿埃艾爱奥安昂巴拜班邦贝本比彼毕宾波伯博布查茨达戴丹当道德登邓迪蒂第丁杜敦顿多俄厄恩尔法凡范菲费
芬丰弗福夫盖冈戈格葛古瓜圭哈海汉豪赫亨胡华怀惠霍基吉季加迦贾杰金卡凯坎康考科克肯库夸奎昆拉莱兰朗
劳勒雷黎里理利莉莲廉列林琳隆卢鲁路吕伦罗洛玛马迈麦曼芒茅梅美门蒙米密莫默姆木穆纳娜南瑙内嫩尼妮涅
宁纽农努诺欧帕派潘庞培佩彭皮平珀坡蒲普齐奇恰钱乔切琴青丘琼让热仁日茹瑞若撒萨塞赛桑瑟森沙山尚绍舍
申圣施什史士斯丝司松苏素孙索塔泰坦汤唐陶特滕提田廷通图托瓦万汪威韦维魏温文沃乌吾伍武西希锡席夏显
香肖歇谢辛欣兴匈休许雅亚延扬耶叶伊衣因英永尤于约云宰赞泽扎詹章哲珍芝治中朱兹孜佐
"""
CHINESE_TRANSCRIBED = "".join(_CHINESE_TRANSCRIBED.split())
"""Characters with which foreign names are written by their sound."""
_RARELY_SOUNDS = "于中文比当道第因热日思治平山内丰约新登列英永显提通图"
CHINESE_SOUNDS = "".join(each for each in CHINESE_TRANSCRIBED if each not in _RARELY_SOUNDS)
"""Those of them that seldom stand side by side in other words."""

_CHINESE_PLACES = """
北京 上海 天津 重庆 广州 深圳 杭州 南京 苏州 成都 武汉 西安 长沙 郑州 济南 青岛 大连 沈阳 哈尔滨
长春 昆明 贵阳 南宁 海口 福州 厦门 南昌 合肥 太原 石家庄 兰州 西宁 银川 乌鲁木齐 拉萨 呼和浩特
香港 澳门 台湾 台北 宁波 无锡 珠海 东莞 佛山 桂林 三亚 丽江 广东 广西 浙江 江苏 山东 山西 河南
河北 湖南 湖北 四川 云南 贵州 福建 江西 安徽 陕西 甘肃 青海 宁夏 新疆 西藏 内蒙古 辽宁 吉林
黑龙江 海南 中国 美国 英国 法国 德国 日本 韩国 朝鲜 俄罗斯 苏联 印度 加拿大 澳大利亚 新西兰
意大利 西班牙 葡萄牙 荷兰 比利时 瑞士 瑞典 挪威 丹麦 芬兰 波兰 奥地利 匈牙利 希腊 土耳其 埃及
南非 巴西 阿根廷 墨西哥 智利 越南 泰国 新加坡 马来西亚 印度尼西亚 菲律宾 伊朗 伊拉克 以色列
沙特阿拉伯 乌克兰 蒙古 欧洲 亚洲 非洲 北美洲 南美洲 伦敦 巴黎 柏林 罗马 纽约 华盛顿 洛杉矶
旧金山 芝加哥 波士顿 莫斯科 东京 大阪 京都 首尔 曼谷 悉尼 墨尔本 华沙 维也纳 马德里 巴塞罗那
里斯本 阿姆斯特丹 布鲁塞尔 日内瓦 苏黎世 开罗 加州
"""
CHINESE_PLACES = tuple(_CHINESE_PLACES.split())

_JAPANESE_PLACES = """
東京 大阪 京都 北海道 札幌 仙台 横浜 名古屋 神戸 広島 福岡 沖縄 那覇 奈良 金沢 新潟 静岡 千葉
埼玉 神奈川 青森 岩手 宮城 秋田 山形 福島 茨城 栃木 群馬 富山 石川 福井 山梨 長野 岐阜 愛知 三重
滋賀 兵庫 和歌山 鳥取 島根 岡山 山口 徳島 香川 愛媛 高知 佐賀 長崎 熊本 大分 宮崎 鹿児島 日本
アメリカ イギリス フランス ドイツ イタリア スペイン ロシア カナダ オーストラリア インド ブラジル
メキシコ オランダ スイス ロンドン パリ ベルリン ローマ ニューヨーク ハワイ ソウル 北京 上海 台北
"""
JAPANESE_PLACES = tuple(_JAPANESE_PLACES.split())

_JAPANESE_TITLES = """
さん さま 様 くん 君 ちゃん 氏 先生 教授 博士 部長 課長 社長
"""
JAPANESE_TITLES = tuple(_JAPANESE_TITLES.split())

_JAPANESE_NOT_NAMED = """
お兄 お姉 お婆 お母 お父 お爺 両 主治医 仏 作者 元 兄 准 前 副 助 医者 司会者 同 同僚 名誉 奥 女
姉 娘 婆 嫁 学生 客 屋 店員 彼 患者 担任 新 某 業者 殿 母 父 爺 王 生徒 皆 神 諸
"""
JAPANESE_NOT_NAMED = frozenset(_JAPANESE_NOT_NAMED.split())
"""What stands before a title and is no name."""

_KOREAN_SURNAMES = """
김이박최정강조윤장임한오서신권황안송류전홍고문손양배백허유남심노하곽성차주우구민진지엄채원천방공
현함변염여추도석선설길
"""
KOREAN_SURNAMES = "".join(_KOREAN_SURNAMES.split())

_KOREAN_TITLES = """
씨 선생님 선생 교수님 교수 박사님 박사 대리님 대리 과장님 과장 부장님 부장 차장님 사장님 사장
팀장님 팀장 변호사님 변호사 기자 감독 대통령 총리 장군 의원 작가 간호사
"""
KOREAN_TITLES = tuple(_KOREAN_TITLES.split())

_KOREAN_PLACES = """
서울 부산 대구 인천 광주 대전 울산 세종 경기도 강원도 충청북도 충청남도 전라북도 전라남도
경상북도 경상남도 제주도 제주 수원 성남 용인 창원 전주 청주 천안 포항 강릉 경주 여수 한국
대한민국 북한 미국 영국 프랑스 독일 일본 중국 러시아 이탈리아 스페인 캐나다 호주 인도 브라질
멕시코 베트남 태국 런던 파리 베를린 로마 뉴욕 도쿄 오사카 베이징 상하이 홍콩 워싱턴 모스크바
"""
KOREAN_PLACES = tuple(_KOREAN_PLACES.split())

_ARABIC_TITLES = """
الدكتور الدكتورة السيد السيدة الآنسة الأستاذ الأستاذة المهندس المهندسة الشيخ الشيخة
"""
ARABIC_TITLES = tuple(_ARABIC_TITLES.split())

_ARABIC_GIVEN_NAMES = """
محمد أحمد خالد يوسف إبراهيم مصطفى حسين طارق سامي ياسر زياد عبدالله عبدالرحمن فاطمة عائشة مريم
زينب ليلى سارة خديجة ياسمين سلمى رانيا هدى نورة دينا رنا جون جورج ويليام توماس جيمس
"""
ARABIC_GIVEN_NAMES = tuple(_ARABIC_GIVEN_NAMES.split())

_ARABIC_PLACES = """
مصر القاهرة الإسكندرية السعودية الرياض جدة مكة الكويت قطر الدوحة البحرين الإمارات دبي أبوظبي
عمان مسقط اليمن صنعاء العراق بغداد البصرة سوريا دمشق حلب لبنان بيروت الأردن فلسطين القدس غزة
ليبيا تونس الجزائر المغرب الرباط السودان الخرطوم أمريكا فرنسا باريس ألمانيا برلين بريطانيا
إنجلترا لندن إيطاليا روما إسبانيا روسيا موسكو الصين اليابان الهند تركيا إسطنبول إيران كندا
أستراليا بولندا وارسو أوروبا آسيا أفريقيا نيويورك
"""
ARABIC_PLACES = tuple(_ARABIC_PLACES.split())
