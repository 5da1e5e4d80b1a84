// Synonym lines about places, nature, health, homes and what happens in the world. Form and rules:
// search-synonyms.ts. Pure data.

export const WORLD_LINES = `
# weather, air, sky, earth
metar, taf, aviation weather, pilot weather
weather, meteo, meteorological, meteorology, wetter, tiempo meteorologico, clima, meteorologia, погода, 天气, 天気, 날씨, 氣象, 気象
forecast, outlook, prediction, prognosis, vorhersage, wettervorhersage, pronostico, prevision, previsao, previsione, прогноз, 预报, 予報, 예보
wetter, wettervorhersage > weather, forecast
rain, rainfall, precipitation, shower, regen, lluvia, pluie, niederschlag, 降水, 雨
snow, snowfall, schnee, nieve, neige
storm, hurricane, tornado, cyclone, severe weather
temperature, temperatur, temperatura, 温度, 気温, degrees celsius
wind, gust, viento, vent
humidity, humedad, feuchtigkeit, 湿度
historical, history, archive, past, previous years, histórico, historisch, historique, 历史, 過去
historical weather, climate records, weather history, reanalysis, past weather
climate > weather, temperature
air quality, air pollution, aqi, polluted, pollution, smog, pm25, pm2.5, particulate, luftqualität, calidad del aire, 空气质量, 大気汚染
pollen, allergy, hay fever, allergen
tide, tides, tidal, ocean, marine, sea state, waves, swell, surf, surfing
lightning, thunder, thunderstorm
earthquake, quake, seismic, seismograph, tremor, erdbeben, terremoto, 地震
wildfire, forest fire, bushfire, blaze, fire detection, hotspot
flood, flooding, inundation
satellite imagery, earth observation, remote sensing, aerial image, satellite image, space imagery
satellite, spacecraft, space station, iss, orbit
astronomy, planets, celestial
moon, moon phase, lunar
sunrise, sunset, daylight
elevation, altitude, terrain, dem, height above sea level, topography
crop, agriculture, farming, farm, irrigation, harvest, agronomy, agricultural
ndvi, vegetation index, vegetation
carbon intensity, grid intensity, clean electricity, green electricity, green power
carbon, co2, emission, greenhouse gas, carbon footprint, climate impact
offset, carbon credit, carbon offset
solar, photovoltaic, pv, solar panel, rooftop solar
electricity price, power price, energy price, strompreis, precio de la luz, spot power, day-ahead price, prix électricité, электроэнергия, 电价, 電気料金
electricity, power, energy, strom, electricidad, électricité, kwh, 电力, 電力
fuel, gasoline, petrol, diesel, gas station, petrol station, benzin, tankstelle, gasolina, essence, carburant
ev charging, ev charger, charging station, charge point, electric vehicle, wallbox, ladestation, ladesäule
charger > charging, charging station

# places, roads, travel
geocode, geocoding, address lookup, address to coordinates, coordinates, latitude longitude, lat lon, lat lng
latitude, lat, breitengrad, latitud
longitude, lon, lng, longitud
address, adresse, dirección, indirizzo, endereço, 地址, 住所
reverse geocoding, coordinates to address
map, maps, mapping, karte, mapa, carte, cartography, 地图, 地図
directions, route, routing, navigation, itinerary, turn-by-turn, wegbeschreibung, ruta, itinéraire, 路线, 経路
drive, driving, by car
stops, waypoints, multi-stop
route optimization, vehicle routing, delivery planning, fleet routing
isochrone, reachable area, travel time
traffic, congestion, traffic jam, road closure, verkehr, stau, tráfico, 交通
parking, parking lot, parking space, car park, garage, parkplatz, aparcamiento
public transport, transit, timetable, bus, tram, metro, subway, gtfs, departures, öpnv, transporte público, 公交
train, rail, railway, zug, bahn, tren, gare, 火车, 列車
flight, flights, airline, aviation, aircraft, plane, airplane, vuelo, flug, 航班, フライト, 항공
flight status, flight delay, flight tracker, delayed, departure, arrival, on time
delay, delayed, late, verspätung, retraso
airport, airfield, aerodrome, flughafen, aeropuerto, aéroport, 机场, 空港
plane, aircraft, airplane, adsb, ads-b, air traffic
airfare, fare, plane ticket, flight ticket, cheap flight, flight price, vuelos baratos, billige flüge
hotel, hotels, lodging, accommodation, hotel room, overnight stay, hostel, unterkunft, alojamiento, hébergement, 酒店, ホテル, 호텔
booking, reservation, reserve, book, buchung, reservar, réservation, 预订, 予約
travel, trip, vacation, holiday trip, tourism, reise, viaje, voyage, 旅行
visa, entry requirements, entry permit, travel document requirements, immigration
restaurant, dining, eat out, place to eat, cafe, food place, restaurante, 餐厅, レストラン
nearby, around, near me, close by, points of interest, poi, places, venue, local business
review, reviews, customer feedback, star rating, bewertung, reseña, avis
event, events, concert, gig, show tickets, festival, veranstaltung, evento
vessel, ship, boat, maritime, ais, marine traffic, schiff, barco, navire, 船舶
container, shipping container, freight container, cargo
zip code, postal code, postcode, plz, código postal, code postal, 邮编
time zone, timezone, local time, utc offset, clock, what time is it, zeitzone, zona horaria
public holiday, bank holiday, feiertag, festivo, jour férié, working days, business days
calendar event, calendar file, ics
calendar, schedule, appointment, meeting slot, terminkalender, calendario, 日历
crime, public safety, crime statistics
demographics, census, population, income statistics

# news, knowledge, health, home
news, headlines, articles, current events, press, nachrichten, noticias, nouvelles, actualités, notizie, новости, 新闻, ニュース, 뉴스
headline, headlines, top stories, breaking news
briefing, daily briefing, digest
academic, scholarly, scientific, papers, research papers, journal articles, literature, preprint, arxiv
biomedical, pubmed, medline, medical literature
clinical trial, clinical study, medical study
medical, medicine, clinical, health, gesundheit, salud, santé, 医疗, 健康, 医療
drug, drugs, medication, medicine, medicines, pharmaceutical, pill, arzneimittel, medikament, medicamento, 药物, 薬
drug interaction, take together, medication interactions, contraindication
side effects, dosage, adverse effects
symptom, symptoms, diagnosis, triage
icd-10, diagnosis code, medical coding
gene, genomics, dna, genetic, variant
protein, amino acid, residue, peptide
protein structure, protein folding
chemistry, chemical, compound, molecule, smiles
nutrition, calories, calorie, kcal, nutrients, macros, nährwerte, kalorien, calorías, 卡路里, カロリー, 热量
food, meal, dish, essen, comida, repas, 食物, 食べ物
recipe, recipes, cooking, cook, rezept, rezepte, receta, recetas, recette, 食谱, レシピ
meal plan, weekly menu, diet plan
wine, sommelier, food pairing
plant, plants, flower, pflanze, planta
pet, animal
dog, cat > pet, breed, animal
vehicle, car, automobile, auto, coche, voiture, 汽车, 自動車
vin, vehicle identification number, chassis number, vehicle history, car history
used car, second-hand car, car value, trade-in
accident, crash, collision
real estate, property, homes, houses, housing, apartment, apartments, wohnungen, immobilien, wohnung, inmuebles, pisos, immobilier, 房产, 不動産
home value, property valuation, house price, appraisal, avm
rent, rental, lease, miete, alquiler, 租赁, 賃貸, 租
land registry, parcel, deed, property owner
product, products, item, goods, artikel, producto, produit, 商品, 製品
product data, product page, product details, ecommerce, e-commerce, online shop, online store, webshop
shop, shopping, store, buy, purchase, order, einkaufen, comprar, acheter, 购买, 購入
amazon, asin
parcel, package, shipment, delivery, paket, sendung, paquete, envío, colis, 快递, 物流, 包裹, 荷物, 配送
tracking, track, track and trace, sendungsverfolgung, seguimiento, suivi, 追踪, 追跡
shipping rate, postage, shipping cost, shipping label, freight quote
freight, trucking, ltl, truckload, fracht
customs, tariff, import duty, import tax, border tax, hs code, harmonized system, zoll, aduana, douane
tariff code, hs code, customs code, commodity code
isbn > book
sports, sport, match, scores, fixtures, deportes, 体育, スポーツ
betting, bet, odds, bookmaker, bookmakers, sportsbook, betting lines, moneyline, wetten, apuestas, wager
nba > basketball
nfl > american football
soccer, football, fútbol, futbol, fußball, 足球, サッカー
football scores, resultados, match results, standings
formula 1, f1, motorsport
horse racing, race card
smart home, iot, home automation
education, learning, study, flashcards
directory of services, service directory, x402 services, paid endpoints
`;
