module small

go 1.22
